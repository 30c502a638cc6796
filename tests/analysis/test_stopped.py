"""What answers of earlier layers pay and gain, on losses of which the ratios are known."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import stopped
from descent.analysis.select import select
from descent.components import TASKS
from tests.fakes.results import change, fake_params, fake_results

PARAMS = fake_params(
    {"video.datasets": ["ucsd"], "video.models": ["ut"], "studies": [], "profiles.demo.video.seeds": [0, 1]}
)
NO_SEARCH = {"studies": []}
EPS = {"eps": 0.13, "layers": 3}
PLAIN = {0: 8.0, 1: 2.0, 2: 1.1, 3: 1.0}  # of plain training by layer, times what test noise does
OURS = {0: 9.0, 1: 5.0, 2: 2.0, 3: 1.5}
ABOVE = [gamma for gamma in PARAMS.video.evaluation.gammas if gamma > 0.13]


@pytest.fixture
def results() -> pd.DataFrame:
    """Losses of plain training and of ours, whose earlier layers suffer less from noise above that of training."""
    table = fake_results(PARAMS)
    rows = table.index[(table["metric"] == "loss") & (table["layers"] == 3) & (table["shift"] == "gaussian")]
    for place in rows:
        row = table.loc[place]
        of_layer = {"constrained": OURS, "unconstrained": PLAIN}.get(row["arm"])
        if of_layer is None:
            continue
        less = (3 - row["layer"]) * row["gamma"] / np.mean(ABOVE)  # as many layers in the mean over test noise
        spared = 0.9**less if row["gamma"] in ABOVE else 1.0
        table.loc[place, "value"] = of_layer[row["layer"]] * spared * (1 + row["gamma"]) * (1 + row["seed"])
    return table


def test_gains_are_half_the_logarithm_of_the_ratio_to_the_baselines_last_layer(results: pd.DataFrame) -> None:
    found = select(stopped.table(results, PARAMS), **EPS).set_index(["arm", "layer"])
    for arm, of_layer in (("unconstrained", PLAIN), ("constrained", OURS)):
        for layer, loss in of_layer.items():
            inside = -np.log(loss) / 2
            outside = inside - (3 - layer) * np.log(0.9) / 2
            told = found.loc[arm, layer]
            assert (told["gain_in"], told["gain_out"]) == pytest.approx((inside, outside))
            assert (told["gain_out_low"], told["gain_out_high"]) == pytest.approx((outside, outside))
            assert told["gain_in_seeds"] == 2
            ours = -np.log(OURS[3]) / 2
            assert (told["ahead_in"], told["ahead_out"]) == pytest.approx((inside - ours, outside - ours))


def test_a_seed_that_lost_a_cell_counts_in_neither_arm(results: pd.DataFrame) -> None:
    lost = {"experiment": "video", "arm": "unconstrained", "seed": 1, "metric": "diverged"} | EPS
    change(results, 1.0, **lost)
    found = select(stopped.table(results, PARAMS), **EPS)
    assert set(found["arm"]) == {"constrained", "unconstrained"} and (found["gain_out_seeds"] == 1).all()


def test_of_texts_a_gain_is_the_difference_of_accuracies_to_the_baselines_last_layer() -> None:
    params = fake_params({"text.datasets": ["imdb"], "text.models": ["distilbert"]} | NO_SEARCH)
    table = fake_results(params)
    rows = select(table, experiment="text", metric="accuracy", split="test", shift="gaussian", bin=0.0)
    depth, arm = rows["layers"].max(), rows["arm"] == "constrained"
    more = 0.1 * arm - 0.02 * (depth - rows["layer"]) * (1 + (rows["gamma"] > rows["eps"]))
    table.loc[rows.index, "value"] = 0.5 + 0.1 * rows["seed"] + more
    found = select(stopped.table(table, params), dataset="imdb", layers=depth, eps=rows["eps"].min())
    found = found.set_index(["arm", "layer"])
    for back in range(int(depth) + 1):
        for name, ours in (("unconstrained", 0.0), ("constrained", 0.1)):
            told = found.loc[name, depth - back]
            assert (told["gain_in"], told["gain_out"]) == pytest.approx((ours - 0.02 * back, ours - 0.04 * back))


def test_without_the_grids_cells_there_is_no_row(results: pd.DataFrame) -> None:
    studies = results[~results["experiment"].isin(TASKS)]
    assert stopped.table(studies, PARAMS).empty
