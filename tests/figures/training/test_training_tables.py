"""The ladder of controls and the table of solvers from made-up results: steps, marks and what is lacking."""

import numpy as np
import pytest

from descent.analysis.select import select
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.beyond import table_ladder, table_solver
from tests.fakes.results import change


def test_the_ladder_writes_steps_and_names_those_without_cells(results, params: Params) -> None:
    gone = results["arm"].isin(["replay", "replay_positive"]) & (results["experiment"] == "controls")
    table = table_ladder.build(results[~gone], params)
    shown = table_ladder.display(table, params)
    assert shown[("", "step")].tolist() == [
        "unconstrained (DUST, one dictionary)",
        "+ capacity (DUST, a dictionary a layer)",
        *("+ deep supervision", "+ penalty", "+ constrained"),
    ]
    assert shown.iloc[0, 4:8].tolist() == [UNKNOWN] * 4
    step = 100 * table.loc[3, ["step_out", "step_out_low", "step_out_high"]].astype(float)
    assert shown.iloc[3, 5] == "{:+.2f} [{:+.2f}, {:+.2f}]".format(*step)
    assert shown[("", "descends")].tolist() == ["0%"] * 4 + ["100%"]
    assert table_ladder.notes(table, params)[1:] == [
        "Left out, as no such cell was trained: + replay, + replay, positive part."
    ]


def test_a_step_is_never_from_a_row_of_which_every_cell_diverged(results, params: Params) -> None:
    lost = {"experiment": "controls", "arm": "replay"}
    whole = table_ladder.build(results, params).set_index("arm")
    for seed in results["seed"].unique():
        change(results, 1.0, **lost, seed=seed, metric="diverged")
    table = table_ladder.build(results, params)
    place = table.index[table["arm"] == "replay"][0]
    after, before = table.iloc[place + 1], table.iloc[place - 1]
    gain = float(np.log(before["rmse_out"] / after["rmse_out"]))
    assert table.loc[place, "rmse_out"] > 2 * whole.loc["replay", "rmse_out"], "it is the zero map's"
    assert after["step_out"] == pytest.approx(gain, abs=0.02) and abs(after["step_out"]) < 0.5


def test_the_ladder_of_one_seed_has_no_intervals_and_without_its_first_row_starts_at_the_next(
    results, params: Params
) -> None:
    few = results[(results["seed"] == 0) & (results["model"] != "dust_shared")]
    table = table_ladder.build(few, params)
    shown = table_ladder.display(table, params)
    assert (
        shown.iloc[0, 0].startswith("+ capacity") and shown.iloc[1, 4] == f"{100 * table.loc[1, 'step_in']:+.2f}"
    )
    assert "unconstrained (DUST, one dictionary)" in table_ladder.notes(table, params)[1]


def test_the_solvers_are_told_apart_by_their_forms(results, params: Params) -> None:
    cell = {"experiment": "solver", "varied": "log sgd"}
    change(results, 0.0, **cell, metric="feasible", split="validation", seed=0)
    change(results, 1.0, **cell, metric="diverged", seed=1)
    change(results, 0.5, **cell, metric="clipped", seed=0)
    change(results, 20.0, **cell, metric="seconds")
    table = table_solver.build(results, params)
    shown = table_solver.display(table, params).set_index(("", "form"))
    assert shown.index.tolist() == ["unconstrained", "penalty", "ratio sgd", "log sgd"]
    row = shown.loc["log sgd"]
    assert (row["feasible", "seeds"], row["feasible", "epochs"], row["", "active"]) == ("50%", "90%", "100%")
    assert (row["", "clipped"], row["", "time"], row["", "diverged"]) == ("35%", "2.00", "1 of 2")
    assert row["", "slackness"] == "4%" and "**" not in row["RMSE", "out"]
    alike = [
        words
        for words in shown["RMSE", "out"]
        if words.strip("*") == shown.loc["ratio sgd"]["RMSE", "out"].strip("*")
    ]
    assert ("**" in shown.loc["ratio sgd"]["RMSE", "out"]) == (len(alike) == 1)
    assert shown.loc["penalty"]["", "active"] == UNKNOWN
    gone = select(results, **cell).index
    table = table_solver.build(results.drop(gone), params)
    assert table_solver.display(table, params).iloc[-1, 1:].tolist() == [UNKNOWN] * 11
    assert table_solver.notes(table, params)[1] == "No cell was trained of: log sgd."
