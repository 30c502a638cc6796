"""What more training makes of an effect, on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import epochs
from descent.analysis.select import select
from descent.config import Params
from tests.fakes.evidence import Made, real_params

HALF, GRID, TWICE = 0.01, 0.05, 0.02  # the gains out of distribution
STUDIES = {"half_ut": 0.5, "plateau_ut": 2}
SETTING = {"dataset": "ucsd", "model": "ut", "eps": 0.13, "arm": "constrained", "beside": ["unconstrained"]}
SEEDS = {"half_ut": 4, "plateau_ut": 3}


@pytest.fixture(scope="module")
def params() -> Params:
    """Two studies of UT with three layers on UCSD that differ from the grid in their epochs, and one of a rate."""
    asked = {"task": "video", "layers": 3, "vary": None, "overrides": {}} | SETTING
    studies = {f"study.{name}": asked | {"times": times} for name, times in STUDIES.items()}
    studies["study.faster_ut"] = asked | {"times": 2, "overrides": {"lr": 0.1}}
    seeds = {f"profiles.demo.studies.{name}": {"seeds": list(range(3))} for name in (*STUDIES, "faster_ut")}
    return real_params(studies | seeds | {"studies": [*STUDIES, "faster_ut"]})


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """Eight seeds with the grid's epochs, four with half of them and three with twice as many."""
    parts = [cells_with(GRID).assign(experiment="video")]
    for (name, count), gain in zip(SEEDS.items(), (HALF, TWICE), strict=True):
        own = cells_with(gain)
        parts.append(own[(own["seed"] < count) & own["arm"].isin(["constrained", "unconstrained"])])
        parts[-1] = parts[-1].assign(experiment=name)
    found = pd.concat(parts, ignore_index=True)
    hump = (found["arm"] == "unconstrained") & (found["metric"] == "validation_loss") & (found["layer"] == 2)
    return found.assign(value=found["value"].mask(hump, 5.0))


def cells_with(gain: float) -> pd.DataFrame:
    rows = Made().video(gain=gain, models=("ut",), datasets=("ucsd",), layers=(3, 5)).table()
    return rows[rows["experiment"] == "video"]


def rows(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    return epochs.table(results[~results["layers"].eq(5) | results["experiment"].eq("video")], params)


def test_the_effect_by_epochs_is_of_the_seeds_that_all_have(results: pd.DataFrame, params: Params) -> None:
    found = rows(results, params)
    own = params.model_budget("ut")["epochs"]
    assert found["epochs"].tolist() == [round(own / 2), own, 2 * own] and set(found["layers"]) == {3}
    assert found["gain_out"].to_numpy() == pytest.approx([HALF, GRID, TWICE], abs=1e-6)
    assert found["gain_in"].to_numpy() == pytest.approx(0, abs=1e-6)
    assert set(found["seeds"]) == {3} and set(found["lost"]) == {0}
    assert set(found["descending_ours"]) == {1} and set(found["descending_baseline"]) == {0}
    assert found["validation_loss_ours"].to_numpy() == pytest.approx(0.25)

    other = (results["seed"] == 0) & (results["arm"] == "constrained") & (results["metric"] == "rmse")
    other &= results["experiment"] == "half_ut"
    moved = results.assign(value=results["value"].where(~other, results["value"] * np.exp(0.03)))
    half = rows(moved, params).iloc[0]
    assert half["gain_out"] == pytest.approx(HALF - 0.01, abs=1e-6), "a mean over three seeds"
    assert half["gain_out_low"] < half["gain_out"] < half["gain_out_high"]
    assert rows(moved, params)["gain_out"].iloc[1] == pytest.approx(GRID, abs=1e-6)


def test_a_seed_that_diverged_at_any_of_them_is_lost_to_all(results: pd.DataFrame, params: Params) -> None:
    own = (results["experiment"] == "plateau_ut") & (results["arm"] == "unconstrained")
    lost, wild = own & (results["metric"] == "diverged"), own & (results["metric"] == "rmse")
    one = results["seed"] == 1
    moved = results.assign(value=results["value"].mask(lost & one, 1.0).mask(wild & one, 200.0))
    found = rows(moved, params)
    assert set(found["seeds"]) == {2} and set(found["lost"]) == {1}
    assert found["gain_out"].to_numpy() == pytest.approx([HALF, GRID, TWICE], abs=1e-6)

    found = rows(results.assign(value=results["value"].mask(lost, 1.0)), params)
    assert set(found["seeds"]) == {0} and set(found["lost"]) == {3}, "shown as lost, and not vanished"
    assert len(found) == 3 and found["gain_out"].isna().all()


def test_without_such_a_study_there_is_nothing(results: pd.DataFrame, params: Params) -> None:
    assert epochs.studies(params) == list(STUDIES), "a study of a rate trains no longer, but otherwise"
    none = params.model_copy(update={"studies": ["faster_ut"]})
    assert epochs.table(select(results, experiment="video"), none).empty
