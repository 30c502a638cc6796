"""What twice the epochs make of an effect, on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from descent.report import gains, published
from tests.fakes.evidence import Made, real_params

BEFORE, AFTER = 0.05, 0.02


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """Two depths with the grid's epochs, and three seeds of one with twice as many, whose gain is another."""
    grid = Made().video(gain=BEFORE, models=("ut",), datasets=("ucsd",), layers=(3, 5)).table()
    grid = grid[grid["experiment"] == "video"]
    longer = Made().video(gain=AFTER, models=("ut",), datasets=("ucsd",), layers=(3,)).table()
    longer = longer[(longer["experiment"] == "video") & (longer["seed"] < 3)].assign(experiment="plateau_ut")
    return pd.concat([grid, longer[longer["arm"].isin(["constrained", "unconstrained"])]], ignore_index=True)


def test_the_effect_after_twice_the_epochs_stands_beside_that_of_the_same_seeds(results: pd.DataFrame) -> None:
    (row,) = published.longer(results, real_params()).to_dict("records")
    assert (row["layers"], row["gain_out_seeds"], row["gain_out_before_seeds"]) == (3, 3, 3)
    assert row["gain_out_before"] == pytest.approx(BEFORE, abs=1e-6)
    assert row["gain_out"] == pytest.approx(AFTER, abs=1e-6) and row["gain_in"] == pytest.approx(0, abs=1e-6)
    other = results["seed"].eq(0) & results["arm"].eq("constrained") & results["metric"].eq("rmse")
    moved = results.assign(value=results["value"].where(~other, results["value"] * np.exp(0.03)))
    (row,) = published.longer(moved, real_params()).to_dict("records")
    assert row["gain_out"] == pytest.approx(AFTER - 0.01, abs=1e-6), "a mean over three seeds"
    assert row["gain_out_low"] < row["gain_out"] < row["gain_out_high"]


def test_a_pair_of_which_a_cell_diverged_is_counted_and_in_no_mean(results: pd.DataFrame) -> None:
    own = results["experiment"].eq("plateau_ut") & results["seed"].eq(1) & results["arm"].eq("unconstrained")
    assert (own & results["metric"].eq("diverged")).any()
    lost = results["metric"].eq("diverged") & own
    wild = results["metric"].eq("rmse") & own
    moved = results.assign(value=results["value"].mask(lost, 1.0).mask(wild, 200.0))
    (row,) = published.longer(moved, real_params()).to_dict("records")
    assert (row["gain_out_seeds"], row["gain_out_before_seeds"], row["lost"]) == (2, 2, 1)
    assert row["gain_out"] == pytest.approx(AFTER, abs=1e-6)

    every = results["metric"].eq("diverged") & results["experiment"].eq("plateau_ut")
    (row,) = published.longer(results.assign(value=results["value"].mask(every, 1.0)), real_params()).to_dict(
        "records"
    )
    assert (row["gain_out_seeds"], row["lost"]) == (0, 3), "it is shown as lost, and does not vanish"
    assert np.isnan(row["gain_out"])


def test_the_report_tells_both_in_percent(results: pd.DataFrame) -> None:
    params = real_params()
    told = gains.turned(published.longer(results, params), params)
    (line,) = told.strip().splitlines()[2:]
    assert line.startswith("| UCSD | UT | 3 | 0.13 | 3 | 0 | +5.00 % [") and "| +2.00 % [" in line


def test_accuracy_by_kind_of_text_is_a_row_each_with_our_arm_s_gain() -> None:
    row = {"dataset": "mnli", "model": "ut_text", "tested": "fiction", "accuracy": 0.4321}
    rows = [
        row | {"arm": "constrained", "effect": 0.012, "low": -0.003, "high": 0.027},
        row | {"arm": "unconstrained", "accuracy": 0.4201, "effect": np.nan, "low": np.nan, "high": np.nan},
    ]
    ours, theirs = gains.kinds(pd.DataFrame(rows), real_params()).splitlines()[2:]
    assert ours.endswith("| fiction | 43.2 % | +1.20 points [-0.30 points, +2.70 points] |") and "MNLI" in ours
    assert theirs.endswith("| fiction | 42.0 % | – |")  # noqa: RUF001
    assert gains.kinds(pd.DataFrame(rows[:0]), real_params()) == ""
