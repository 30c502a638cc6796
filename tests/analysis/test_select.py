"""The guard: no average over what nobody named; and a second shift or a third arm changes no number."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from descent.analysis import summary, theory
from descent.analysis.effects import pairs
from descent.analysis.metrics import metrics
from descent.analysis.results import COLUMNS, read, write
from descent.analysis.scorecard import scorecard
from descent.analysis.select import (
    CELL,
    TRAINED,
    TRANSFER,
    at_eps,
    average,
    check_named,
    mean,
    select,
    whole_sweep,
)
from descent.analysis.trials import best_text, best_trial
from descent.config import Params
from descent.errors import UserError
from tests.fakes.results import fake_params, with_another_shift
from tests.report.test_plots import curves_of

UT = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 3, "eps": 0.13}


def test_an_average_over_a_shift_that_nobody_named_is_refused(results: pd.DataFrame) -> None:
    rows = select(results, **UT, metric="rmse", tested="")
    with pytest.raises(UserError) as told:
        mean(rows, over=["gamma"])
    assert str(told.value) == (
        "an average over the column 'shift' (gaussian, salt_and_pepper) that nobody asked for: choose one of its "
        "values, or name the column"
    )
    one = select(rows, shift=TRAINED)
    assert mean(one, over=["gamma"]).squeeze() == pytest.approx(one["value"].mean())
    assert mean(rows, over=["gamma", "shift"]).squeeze() == pytest.approx(rows["value"].mean())


def test_an_average_over_the_data_sets_that_a_cell_was_tested_on_is_refused(results: pd.DataFrame) -> None:
    rows = select(results, **UT, metric="rmse", shift=TRANSFER, gamma=0.13)
    with pytest.raises(UserError, match=r"the column 'tested' \(avenue, shanghaitech\)"):
        mean(rows)
    assert mean(rows, over=["tested"]).squeeze() == pytest.approx(rows["value"].mean())


@pytest.mark.parametrize(("by", "column"), [(CELL, "gamma"), ([name for name in CELL if name != "eps"], "eps")])
def test_any_other_column_is_refused_alike(results: pd.DataFrame, by: list[str], column: str) -> None:
    where = {name: value for name, value in UT.items() if name != "eps"}
    with pytest.raises(UserError, match=f"the column {column!r} "):
        average(select(results, **where, metric="rmse", shift=TRAINED), by, over=["gamma"] * (column != "gamma"))


def test_values_that_differ_between_groups_only_are_no_average(results: pd.DataFrame) -> None:
    rows = select(results, **UT, metric="rmse", tested="")
    check_named(rows, ["shift", "gamma"])
    check_named(rows, ["shift"], over=["gamma"])
    both = rows.groupby("gamma")["shift"].nunique().idxmax()
    rows = rows[(rows["shift"] == TRAINED) | (rows["gamma"] == both)]
    assert len(average(rows, ["shift", "gamma"])) == len(rows)
    with pytest.raises(UserError, match="'shift'"):
        average(rows, ["gamma"])


def test_no_rows_have_no_average(results: pd.DataFrame) -> None:
    assert average(results[:0], CELL).empty and average(results[:0], ["seed"], over=["gamma"]).empty


def test_the_training_level_is_a_level_of_the_noise_of_training(results: pd.DataFrame) -> None:
    rows = at_eps(select(with_another_shift(results), **UT, metric="rmse"))
    assert rows[["shift", "gamma"]].to_numpy().tolist() == [[TRAINED, 0.13]]


def test_a_whole_sweep_is_whole_in_each_shift(params: Params, results: pd.DataFrame) -> None:
    gammas = params.video.evaluation.gammas
    both = whole_sweep(select(with_another_shift(results), **UT), "rmse", gammas)
    assert both["shift"].value_counts().to_dict() == {TRAINED: len(gammas), "blur": len(gammas)}


READERS: dict[str, Callable[[pd.DataFrame, Params], Any]] = {
    "cells_table": summary.cells_table,
    "best_depth": lambda rows, params: summary.best_depth(summary.cells_table(rows, params)),
    "best_trial": lambda rows, params: best_trial(summary.cells_table(rows, params), params),
    "best_text": lambda rows, params: best_text(summary.cells_table(rows, params), params),
    "metrics": lambda rows, params: pd.Series(metrics(summary.cells_table(rows, params), params)),
    "pairs": pairs,
    "scorecard": scorecard,
    "curves": lambda rows, params: pd.concat(curves_of(rows, params, params.method)),
    "theory": lambda rows, params: _bounds(rows, params),
}


def _bounds(rows: pd.DataFrame, params: Params) -> pd.DataFrame:
    losses, shown = theory.layer_losses(rows), theory.shown(rows, params)
    found = [theory.of_cell(losses, cell, params) for _, cell in shown.iterrows()]
    return pd.DataFrame(
        [{"zeta": one.zeta, "tau": one.tau, "gap": one.gap, **dict(enumerate(one.worst))} for one in found]
    )


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_a_second_shift_and_another_data_set_to_test_on_change_no_number_of_the_paper(
    params: Params, results: pd.DataFrame, reader: str
) -> None:
    assert {TRANSFER, "salt_and_pepper"} < set(results["shift"])
    before = READERS[reader](select(results, shift=TRAINED), params)
    for rows in (results, with_another_shift(results)):
        after = READERS[reader](rows, params)
        same = pd.testing.assert_series_equal if isinstance(after, pd.Series) else pd.testing.assert_frame_equal
        same(before, after)


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["scorecard", "pairs"])
def test_a_third_arm_changes_no_number_of_the_comparison(results: pd.DataFrame, reader: str) -> None:
    two = fake_params({"arms": ["constrained", "unconstrained"]})
    ours = results["arm"] != "deep_supervision"
    found = READERS[reader](results, fake_params()), READERS[reader](results[ours], two)
    pd.testing.assert_frame_equal(*found)


def test_a_third_arm_changes_no_pair_and_an_arm_may_be_called_anything(results: pd.DataFrame) -> None:
    params = fake_params()
    cells = select(summary.cells_table(results, params), experiment="video", trained=True)
    both = summary.pairs(cells, "mean_rmse", params.comparison)
    fewer = summary.pairs(cells[cells["arm"] != "deep_supervision"], "mean_rmse", params.comparison)
    pd.testing.assert_frame_equal(both, fewer)
    assert list(both.columns) == ["ours", "baseline"] and len(both) == 45
    other = fake_params({"comparison": {"ours": "deep_supervision", "baseline": "unconstrained"}})
    found = summary.pairs(cells, "mean_rmse", other.comparison)
    assert found["baseline"].equals(both["baseline"]) and not found["ours"].equals(both["ours"])


def test_rows_that_say_nothing_of_the_shift_are_of_the_noise_of_training(results: pd.DataFrame, tmp_path) -> None:
    few = select(results, **UT, metric="epoch").drop(columns=["shift", "bin", "varied"])
    write(few, tmp_path / "few.parquet")
    found = read(tmp_path / "few.parquet", "demo")
    assert list(found.columns) == list(COLUMNS) and found["shift"].tolist() == [TRAINED]
