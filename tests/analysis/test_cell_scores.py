"""The scores that are published cell by cell: the gains that are judged follow from them alone."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from descent.analysis import cell_scores, effects, shifts
from descent.analysis.select import TRANSFER, select
from descent.components import TRAINED
from descent.config import Params

PAIR, ARMS = ["dataset", "model", "layers", "eps", "seed"], ("constrained", "unconstrained")


def test_gains_of_texts_follow_from_the_scores_of_two_cells(params: Params, results: pd.DataFrame) -> None:
    pairs = select(effects.pairs(results, params), resample=0)
    rows = swept(select(cell_scores.table(results), experiment="text", metric="accuracy"), params.text)
    beyond = rows["gamma"] > rows["eps"] + 1e-9
    for claim, own, sign in (("text_ood", rows[beyond], 1), ("text_cost", rows[~beyond], -1)):
        means = own.groupby([*PAIR, "arm"])["value"].mean().unstack()
        gain = sign * (means["constrained"] - means["unconstrained"])
        judged = select(pairs, claim=claim).set_index(PAIR)["effect"].dropna()
        assert len(judged) > 3 and judged.abs().max() > 1e-3
        pd.testing.assert_series_equal(gain.reindex(judged.index), judged, check_names=False, rtol=1e-9)


def test_what_gains_of_video_are_differences_of_follows_from_the_scores_of_a_cell(
    params: Params, results: pd.DataFrame
) -> None:
    rows = swept(select(cell_scores.table(results), experiment="video", metric="rmse"), params.video)
    beyond = rows["gamma"] > rows["eps"] + 1e-9
    for where, own in (("out_of", rows[beyond]), ("in", rows[~beyond])):
        judged = select(results, experiment="video", metric=f"log_rmse_{where}_distribution_replicate", bin=0.0)
        judged = judged[judged["arm"].isin(ARMS)].set_index([*PAIR, "arm"])["value"]
        means = np.log(own.set_index([*PAIR, "arm"])["value"]).groupby([*PAIR, "arm"]).mean()
        assert len(judged) > 3
        pd.testing.assert_series_equal(means.reindex(judged.index), judged, check_names=False, rtol=1e-9)


def swept(rows: pd.DataFrame, section: Any) -> pd.DataFrame:
    """Those of the pair at the levels that are judged; the training level is measured beside them."""
    return rows[rows["arm"].isin(ARMS) & rows["gamma"].isin(section.evaluation.gammas)]


def test_of_every_tested_cell_the_losses_of_all_layers_are_there_at_its_level_alone(results: pd.DataFrame) -> None:
    losses = select(cell_scores.table(results), metric="loss", arm="constrained")
    cells = losses.groupby(["experiment", *PAIR, "varied"])
    assert len(cells) > 3
    for (*_, layers, eps, _, _), own in cells:
        assert list(own["layer"]) == list(range(layers + 1))
        assert own["gamma"].to_numpy() == pytest.approx(eps)


def test_no_other_shift_and_no_resample_is_among_them(results: pd.DataFrame) -> None:
    guess = results[results["metric"] == "accuracy"].iloc[[0]].assign(metric="most_frequent", shift="gaussian")
    results = pd.concat([results, guess.assign(layer=guess["layers"])], ignore_index=True)
    found = cell_scores.table(results)
    assert {"zero", "identity"} <= set(found["arm"]), "what P5 compares with"
    assert not found.duplicated(cell_scores.COLUMNS[:-1]).any()
    shifted = results.assign(shift="uniform")
    assert cell_scores.table(pd.concat([results, shifted])).equals(found)
    assert set(found["metric"]) == {"loss", *cell_scores.BY_LEVEL}


def test_gains_under_other_shifts_follow_from_the_scores_of_two_cells(
    params: Params, results: pd.DataFrame
) -> None:
    scores = cell_scores.shifted(results)
    assert not {TRAINED, TRANSFER} & set(scores["shift"])
    assert not scores.duplicated(cell_scores.SHIFTED[:-1]).any()
    by = ["experiment", *PAIR, "shift", "gamma"]
    own = select(scores, metric="rmse", varied="").set_index([*by, "arm"])["value"].unstack()
    gain = np.log(own["unconstrained"] / own["constrained"])
    told = select(shifts.gains(results, params), arm="constrained").set_index(by)["gain"]
    assert len(told) > 3 and told.abs().max() > 1e-3
    pd.testing.assert_series_equal(gain.reindex(told.index), told, check_names=False, rtol=1e-9)
