"""The rows that a data set gives under every shift: of its levels, and by nothing else than the shift."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis.select import select
from descent.tasks.video.data import Prepared
from descent.tasks.video.shifted import levels
from tests.fakes.core import evaluate_cells, small_params, train_cells
from tests.fakes.dust import CELL, evaluated, trained


def test_the_sweep_has_every_training_level_once(prepared: Prepared) -> None:
    params = small_params({"eps": 0.13, "video.evaluation": {"gammas": [1, 0.0, 0.25, 0.5]}})
    assert levels(params, "gaussian") == [0.0, 0.13, 0.25, 0.5, 1.0]
    assert levels(params, "gaussian", [0.3]) == [0.0, 0.13, 0.25, 0.3, 0.5, 1.0]
    assert levels(params, "salt_and_pepper", [0.3]) == params.video.evaluation.energies
    assert levels(params, "blur", [0.3]) == params.shifts["blur"]["levels"]


@pytest.mark.slow
def test_salt_and_pepper_has_rows_of_its_own_levels_and_none_of_training(prepared: Prepared) -> None:
    levels = [0.0, 0.3, 0.9]
    both = {
        "video.evaluation": {"shifts": ["gaussian", "salt_and_pepper"]},
        "shifts.salt_and_pepper": {"levels": levels},
    }
    trained()
    before = evaluated()
    table = evaluated(**both)
    pd.testing.assert_frame_equal(
        select(table, shift="gaussian").reset_index(drop=True), before.reset_index(drop=True)
    )
    rows = select(table, shift="salt_and_pepper")
    assert set(rows["split"]) == {"test"}
    resampled = rows["metric"].isin(["log_rmse_replicate", "test_items"])
    own = set(rows[~resampled]["metric"])
    assert own == {"loss", "rmse", "rmse_clipped", "psnr"}, "no verdicts"
    assert set(rows[~resampled]["gamma"]) == set(levels)
    assert set(rows["arm"]) == {"constrained", "unconstrained"} and set(rows["eps"]) == {0.0, 0.13, 0.5}
    clean, calm, loud = (
        select(own, metric="rmse", gamma=level).set_index(CELL)["value"].sort_index()
        for own, level in ((before, 0.0), (rows, 0.0), (rows, 0.9))
    )
    pd.testing.assert_series_equal(calm, clean, rtol=1e-5)  # of the amount 0 they are the clean inputs
    assert (loud > calm).all()
    logs = np.log(select(rows, metric="rmse")["value"]).groupby([rows[key] for key in CELL]).mean()
    resamples = select(rows, metric="log_rmse_replicate")
    first = select(resamples, bin=0.0).set_index(CELL)["value"].sort_index()
    pd.testing.assert_series_equal(first, logs, check_names=False, rtol=1e-9)
    assert set(resamples["bin"]) == set(map(float, range(8)))


@pytest.mark.slow
def test_frames_in_another_order_change_nothing_for_models_without_an_order(prepared: Prepared) -> None:
    """The negative control: UT and DUST are equivariant to the order of tokens."""
    shifts = {"shifts": ["gaussian", "shuffled_frames", "repeated_frames"]}
    table = {}
    for model in ("ut", "dust"):
        changes = {"video.models": [model], "video.evaluation": shifts}
        train_cells(small_params(changes), "video", "ucsd", model)
        rows = select(evaluate_cells(small_params(changes), "video", "ucsd"), split="test")
        table[model] = rows[rows["metric"].isin(["loss", "rmse", "rmse_clipped"])]
        rmse = select(table[model], shift="shuffled_frames").set_index([*CELL, "metric", "layer"])
        still, moved = (select(rmse, gamma=level)["value"].sort_index() for level in (0.0, 1.0))
        assert len(still) > 10 and (still[still > 0] > 1e-6).all()
        pd.testing.assert_series_equal(moved, still, rtol=1e-4)
        repeated = select(table[model], shift="repeated_frames", metric="rmse", gamma=0.4)
        assert (repeated["value"].to_numpy() > 1.001 * still.xs("rmse", level="metric").min()).all()
