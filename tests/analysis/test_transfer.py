"""The matrix of data sets: gains by hand, the ordinary score on the diagonal, and what a lost cell counts as."""

import math

import pandas as pd
import pytest

from descent.analysis import transfer
from descent.analysis.select import TRAINED, TRANSFER, select
from descent.cells import headline
from descent.config import Params
from tests.fakes.results import INTENSITY, change, fake_results

NAMES = {"avenue", "ucsd", "shanghaitech"}


@pytest.fixture
def rows(params: Params) -> pd.DataFrame:
    return select(fake_results(params), eps=headline(params, "video"))


def square(table: pd.DataFrame, **where: object) -> dict:
    return select(table, **where).iloc[0].to_dict()


def test_every_pair_of_data_sets_has_its_mean_and_its_gain_over_the_baseline(params: Params, rows) -> None:
    for arm, value in (("constrained", 8.0), ("unconstrained", 8.0 * math.exp(0.2))):
        change(rows, value, shift=TRANSFER, metric="rmse", arm=arm, dataset="ucsd", tested="avenue", model="dust")
    change(rows, 9.0, shift=TRANSFER, metric="rmse", arm="constrained", model="dust", layers=3, gamma=0.13,
           dataset="ucsd", tested="avenue")  # fmt: skip
    table = transfer.matrix(rows, params)
    assert set(table["gamma"]) == {0.13, 0.3} and set(table["arm"]) == set(params.arms)
    assert set(zip(table["dataset"], table["tested"], strict=True)) == {(a, b) for a in NAMES for b in NAMES}
    pair = {"model": "dust", "arm": "constrained", "dataset": "ucsd", "tested": "avenue"}
    high, low = (square(table, **pair, gamma=level) for level in (0.3, 0.13))
    assert high["rmse"] == pytest.approx(8.0) and high["effect"] == pytest.approx(0.2)
    assert low["rmse"] == pytest.approx(8.5) and low["effect"] == pytest.approx(0.2 - math.log(9 / 8) / 2)
    assert math.isnan(square(table, **pair | {"arm": "unconstrained"}, gamma=0.3)["effect"])


def test_on_the_diagonal_stands_the_ordinary_score(params: Params, rows) -> None:
    table = transfer.matrix(rows, params)
    home = select(rows, shift=TRAINED, metric="rmse", experiment="video", gamma=0.3, split="test", bin=0.0)
    for arm in params.arms:
        own = select(home, model="ut", arm=arm, dataset="avenue")["value"].mean()
        found = square(table, model="ut", arm=arm, dataset="avenue", tested="avenue", gamma=0.3)
        assert found["rmse"] == pytest.approx(own)


def test_a_cell_that_diverged_scores_as_the_zero_map_on_what_it_is_tested_on(params: Params, rows) -> None:
    lost = {"dataset": "ucsd", "model": "vit", "arm": "constrained", "layers": 4, "seed": 0}
    change(rows, 1.0, **lost, metric="diverged")
    scored = rows[rows["metric"].isin(["rmse"]) & rows["shift"].isin([TRAINED, TRANSFER])]
    rows = rows.drop(select(scored, **lost).index)
    references = rows.copy()
    zero = select(fake_results(params), arm="zero", metric="rmse")
    table = transfer.matrix(pd.concat([references, zero]), params)
    for tested in NAMES:
        own = {"model": "vit", "arm": "constrained", "dataset": "ucsd", "tested": tested, "gamma": 0.3}
        assert square(table, **own)["rmse"] == pytest.approx(INTENSITY[tested])
        other = select(zero, dataset=tested, model="vit", gamma=0.3, shift=TRAINED)["value"].item()
        assert other == INTENSITY[tested]


def test_the_matrix_is_of_the_headline_level_alone(params: Params, rows) -> None:
    every = fake_results(params)
    assert select(every, experiment="video")["eps"].nunique() > 2, "other levels are there"
    found = transfer.matrix(every, params)
    pd.testing.assert_frame_equal(found, transfer.matrix(rows, params))
    assert found["rmse"].notna().all() and list(found) == transfer.COLUMNS
    none = transfer.matrix(every[every["shift"] != TRANSFER], params)
    assert none.empty and list(none) == transfer.COLUMNS
