"""Accuracy by kind of text: means and gains by hand, and a cell that diverged as chance."""

import pandas as pd
import pytest

from descent.analysis import kinds
from descent.analysis.select import TRANSFER, select
from descent.cells import headline
from descent.config import Params
from tests.fakes.results import change, fake_params, fake_results

PLACE = {"dataset": "mnli", "model": "ut_text", "tested": "fiction"}
ROWS = PLACE | {"shift": TRANSFER, "metric": "accuracy"}


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params({"text.search.arms": {}})


@pytest.fixture
def results(params: Params) -> pd.DataFrame:
    return fake_results(params)


def line(results: pd.DataFrame, params: Params, arm: str) -> dict:
    return select(kinds.table(results, params), **PLACE, arm=arm).iloc[0].to_dict()


def test_every_kind_has_its_mean_and_its_gain_over_the_baseline(results: pd.DataFrame, params: Params) -> None:
    change(results, 0.5, **ROWS, arm="unconstrained")
    change(results, 0.6, **ROWS, arm="constrained")
    depths = sorted(set(select(results, **ROWS)["layers"]))
    change(results, 0.7, **ROWS, arm="constrained", layers=depths[0])
    ours, theirs = (line(results, params, arm) for arm in ("constrained", "unconstrained"))
    share = 1 / len(depths)
    assert ours["accuracy"] == pytest.approx(0.6 + 0.1 * share) and theirs["accuracy"] == pytest.approx(0.5)
    assert ours["effect"] == pytest.approx(0.1 + 0.1 * share) and pd.isna(theirs["effect"])
    others = set(kinds.table(results, params)["tested"])
    assert others == {"fiction", "travel", "letters (unseen)"}


def test_of_a_search_each_arm_has_its_best_trial(results: pd.DataFrame) -> None:
    for arm, seed, value in (("constrained", 2, 0.9), ("unconstrained", 1, 0.6)):
        change(results, 0.001, **PLACE | {"tested": ""}, arm=arm, seed=seed, metric="validation_loss")
        change(results, value, **ROWS, arm=arm, seed=seed)
    found = line(results, fake_params(), "constrained")
    assert found["accuracy"] == pytest.approx(0.9) and found["effect"] == pytest.approx(0.3)
    assert found["seeds"] == 1


def test_a_cell_that_diverged_scores_as_chance(results: pd.DataFrame, params: Params) -> None:
    cells = {"experiment": "text", "dataset": "mnli", "model": "ut_text", "arm": "constrained"}
    before = line(results, params, "constrained")
    change(results, 1.0, **cells, metric="diverged", eps=0.0)
    assert line(results, params, "constrained") == before, "of another level of training"
    change(results, 1.0, **cells, metric="diverged", eps=headline(params, "text"))
    assert line(results, params, "constrained")["accuracy"] == pytest.approx(1 / 3)
