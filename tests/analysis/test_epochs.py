"""What more training makes of an effect, on tables made by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from descent.analysis import epochs
from descent.analysis.select import select
from descent.config import Params
from tests.fakes.evidence import Made, real_params

HALF, GRID, TWICE = 0.01, 0.05, 0.02  # the gains out of distribution
STUDY = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13, "vary": None}
STUDY |= {"arm": "constrained", "beside": ["unconstrained"], "times": 2, "overrides": {}}
STUDIES = {"half_ut": {"times": 0.5}, "plateau_ut": {}}
OTHERS = {"faster_ut": {"overrides": {"lr": 0.1}}, "alone_ut": {"beside": []}, "unseen_ut": {"tested": False}}
OTHERS |= {"same_ut": {"times": 1}}


def asked(**studies: dict[str, Any]) -> Params:
    """Parameters with these studies of UT in use."""
    changes = {f"study.{name}": STUDY | changed for name, changed in studies.items()}
    return real_params(changes | {"studies": list(studies)})


@pytest.fixture(scope="module")
def params() -> Params:
    return asked(**OTHERS, **STUDIES)


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """Eight seeds of two depths with the grid's epochs; of one depth four with half, three with twice as many."""
    parts = [cells("video", GRID, 8, (3, 5)), cells("half_ut", HALF, 4), cells("plateau_ut", TWICE, 3)]
    found = pd.concat(parts, ignore_index=True)
    hump = (found["arm"] == "unconstrained") & (found["metric"] == "validation_loss") & (found["layer"] == 2)
    return found.assign(value=found["value"].mask(hump, 5.0))


def cells(experiment: str, gain: float, seeds: int, layers: tuple[int, ...] = (3,)) -> pd.DataFrame:
    rows = Made(seeds).video(gain=gain, models=("ut",), datasets=("ucsd",), layers=layers).table()
    return rows[rows["experiment"] == "video"].assign(experiment=experiment)


def test_the_effect_by_epochs_is_of_the_seeds_that_all_have(results: pd.DataFrame, params: Params) -> None:
    found = epochs.table(results, params)
    own = params.epochs("ut")
    assert found["epochs"].tolist() == [round(own / 2), own, 2 * own] and set(found["layers"]) == {3}
    assert found["gain_out"].to_numpy() == pytest.approx([HALF, GRID, TWICE], abs=1e-6)
    assert found["gain_in"].to_numpy() == pytest.approx(0, abs=1e-6)
    assert set(found["seeds"]) == {3} and set(found["lost"]) == {0}
    assert set(found["descending_ours"]) == {1} and set(found["descending_baseline"]) == {0}
    assert found["validation_loss_ours"].to_numpy() == pytest.approx(0.25)

    other = (results["seed"] == 0) & (results["arm"] == "constrained") & (results["metric"] == "rmse")
    other &= results["experiment"] == "half_ut"
    moved = results.assign(value=results["value"].where(~other, results["value"] * np.exp(0.03)))
    half, grid, _ = epochs.table(moved, params).to_dict("records")
    assert half["gain_out"] == pytest.approx(HALF - 0.01, abs=1e-6), "a mean over three seeds"
    assert half["gain_out_low"] < half["gain_out"] < half["gain_out_high"]
    assert grid["gain_out"] == pytest.approx(GRID, abs=1e-6)


def test_a_seed_that_diverged_at_any_of_them_is_lost_to_all(results: pd.DataFrame, params: Params) -> None:
    own = (results["experiment"] == "plateau_ut") & (results["arm"] == "unconstrained")
    lost, wild = own & (results["metric"] == "diverged"), own & (results["metric"] == "rmse")
    one = results["seed"] == 1
    moved = results.assign(value=results["value"].mask(lost & one, 1.0).mask(wild & one, 200.0))
    found = epochs.table(moved, params)
    assert set(found["seeds"]) == {2} and set(found["lost"]) == {1}
    assert found["gain_out"].to_numpy() == pytest.approx([HALF, GRID, TWICE], abs=1e-6)

    found = epochs.table(results.assign(value=results["value"].mask(lost, 1.0)), params)
    assert set(found["seeds"]) == {0} and set(found["lost"]) == {3}, "shown as lost, and not vanished"
    assert len(found) == 3 and found["gain_out"].isna().all()


def test_seeds_without_a_partner_are_neither_counted_nor_lost(results: pd.DataFrame, params: Params) -> None:
    alone = (results["experiment"] == "half_ut") & (results["arm"] == "unconstrained") & (results["seed"] == 0)
    found = epochs.table(results[~alone], params)
    assert set(found["seeds"]) == {2} and set(found["lost"]) == {0}

    apart = results[(results["experiment"] != "half_ut") | (results["seed"] == 3)]
    found = epochs.table(apart, params)
    assert len(found) == 3 and set(found["seeds"]) == set(found["lost"]) == {0} and found["gain_out"].isna().all()


def test_two_studies_of_equal_length_are_one_number_of_epochs(results: pd.DataFrame) -> None:
    again = select(results, experiment="half_ut").assign(experiment="again_ut")
    both = asked(**STUDIES, again_ut={"times": 0.5})
    pd.testing.assert_frame_equal(
        epochs.table(pd.concat([results, again], ignore_index=True), both), epochs.table(results, asked(**STUDIES))
    )


def test_a_setting_that_the_grid_lacks_has_no_row_of_the_grid(results: pd.DataFrame, params: Params) -> None:
    found = epochs.table(results[~((results["experiment"] == "video") & (results["layers"] == 3))], params)
    assert found["epochs"].tolist() == [params.epochs("ut", 0.5), params.epochs("ut", 2.0)]


def test_trials_of_a_search_of_text_are_no_seeds() -> None:
    study = {"task": "text", "dataset": "imdb", "model": "ut_text", "eps": 0.4}
    rows = [Made(3).accuracy(name, "imdb", "ut_text").table() for name in ("text", "half_ut")]
    rows = pd.concat([one[one["experiment"].isin(("text", "half_ut"))] for one in rows], ignore_index=True)
    one = asked(half_ut=study | {"times": 0.5})
    assert len(epochs.table(rows, one)) == 1
    repeated = one.model_copy(update={"text": one.text.model_copy(update={"search": without_search(one)})})
    assert len(epochs.table(rows, repeated)) == 2


def without_search(params: Params) -> Any:
    return params.text.search.model_copy(update={"arms": {}})


def test_other_studies_are_left_alone(results: pd.DataFrame, params: Params) -> None:
    assert epochs.studies(params) == list(STUDIES)
    others = pd.concat([results, *(cells(name, 0.3, 8) for name in OTHERS)], ignore_index=True)
    pd.testing.assert_frame_equal(epochs.table(others, params), epochs.table(results, params))
    assert epochs.table(others, asked(**OTHERS)).empty
    assert epochs.table(select(results, experiment="video"), params).empty, "studies that made no cell"
