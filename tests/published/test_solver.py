"""Whether the solver held, and what another rule for weights would have decided, on tables made by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from descent.analysis.results import ABSENT
from descent.published import solver
from tests.fakes.results import fake_params

ARMS = ["constrained", "unconstrained"]
CELL = {
    "profile": "demo",
    "experiment": "video",
    "dataset": "ucsd",
    "model": "ut",
    "layers": 2,
    "eps": 0.13,
    "seed": 0,
    "varied": "",
}


def epochs(arm: str, losses: list[float], worst: list[float]) -> list[dict]:
    """Rows of a cell by epoch: f_L, and the violation of one constraint."""
    common = ABSENT | CELL | {"arm": arm, "split": "validation", "gamma": 0.13}
    rows = []
    for epoch, (loss, violation) in enumerate(zip(losses, worst, strict=True), start=1):
        at = common | {"bin": float(epoch)}
        rows += [
            at | {"layer": layer, "metric": "loss_epoch", "value": 9.0 if layer < 2 else loss}
            for layer in range(3)
        ]
        rows += [at | {"layer": 1, "metric": "violation_epoch", "value": violation}]
    return rows


def test_the_other_rule_takes_the_best_feasible_epoch_of_the_arm_that_enforces_and_the_best_of_the_other() -> None:
    losses, worst = [5.0, 1.0, 2.0, 4.0], [0.0, 0.5, 0.01, 0.0]  # the best epoch is not feasible
    rows = epochs("constrained", losses, worst) + epochs("unconstrained", losses, worst)
    found = solver.selection(pd.DataFrame(rows), fake_params()).set_index("arm")
    assert found.loc["constrained", "lower"] == pytest.approx(math.log(4 / 2))
    assert found.loc["unconstrained", "lower"] == pytest.approx(math.log(4 / 1))
    assert found["earlier"].tolist() == [1, 1] and found["cells"].tolist() == [1, 1]


def test_where_no_epoch_is_feasible_the_rule_takes_the_smallest_violation() -> None:
    params = fake_params({"objectives.constrained.warmup_epochs": 0})
    rows = epochs("constrained", [3.0, 1.0, 2.0], [0.3, 0.9, 0.4])
    (lower,) = solver.selection(pd.DataFrame(rows), params)["lower"]
    assert lower == pytest.approx(math.log(2 / 3))
    warm = fake_params({"objectives.constrained.warmup_epochs": 1})
    assert solver.selection(pd.DataFrame(rows), warm)["lower"].tolist() == [0], (
        "of the warm-up nothing is reported"
    )
    same = solver.selection(pd.DataFrame(epochs("constrained", [3.0, 2.0], [0.3, 0.1])), params)
    assert same["earlier"].tolist() == [0] and same["lower"].tolist() == [0]


def test_shares_are_of_the_cells_that_enforce_the_constraints() -> None:
    def cell(arm: str, seed: int, feasible: bool, swing: float) -> dict:
        own = {"feasible": feasible, "feasible_test": False, "active": True, "diverged": False, "clipped": swing}
        swings = {"oscillation": swing, "multiplier_oscillation": 2 * swing}
        return CELL | {"arm": arm, "seed": seed, "feasible_epochs": 0.25} | swings | own

    cells = pd.DataFrame(
        [
            cell("constrained", 0, True, 0.1),
            cell("constrained", 1, False, 0.3),
            cell("unconstrained", 0, True, 0.9),
        ]
    )
    (row,) = solver.by_setting(cells, fake_params()).to_dict("records")
    assert (row["cells"], row["validation"], row["test"], row["active"]) == (2, 1, 0, 2)
    assert (row["swing_f0"], row["largest_f0"], row["epochs"]) == (pytest.approx(0.2), 0.3, 0.25)
    assert row["swing_f0_baseline"] == 0.9, "of the baseline alone"
    (told,) = solver.by_setting(cells.assign(descent_active=[1.0, 0.0, 1.0]), fake_params()).to_dict("records")
    assert told["active"] == 1, "where it is told of descent, the cap does not count"
    mixed = cells.assign(descent_active=[0.0, np.nan, np.nan])
    assert solver.by_setting(mixed, fake_params())["active"].tolist() == [1], (
        "of older parts any constraint counts"
    )
    assert row["swing_multiplier"] == pytest.approx(0.4)
    assert (row["clipped"], row["clipped_baseline"]) == (pytest.approx(0.2), 0.9)


def test_settings_are_told_apart_by_depth() -> None:
    cells = pd.DataFrame([CELL | {"arm": "constrained", "layers": depth} | HELD for depth in (2, 2, 3)])
    assert solver.by_setting(cells, fake_params())[["layers", "cells"]].to_numpy().tolist() == [[2, 2], [3, 1]]


def test_without_an_arm_that_enforces_there_is_no_row() -> None:
    cells = pd.DataFrame([CELL | {"arm": "unconstrained"} | HELD])
    assert solver.by_setting(cells, fake_params()).empty


HELD = {"feasible": True, "feasible_test": True, "active": True, "diverged": False, "clipped": 0.0}
HELD |= {"oscillation": 0.1, "multiplier_oscillation": 0.1, "feasible_epochs": 1.0}


def test_twice_the_epochs_stand_beside_the_same_cells() -> None:
    def cell(experiment: str, arm: str, loss: float, feasible: bool | None, seed: int = 0) -> dict:
        own = {"validation_loss": loss, "feasible": feasible, "descending": True, "experiment": experiment}
        own |= {"diverged": math.isnan(loss)}
        return CELL | {"arm": arm, "seed": seed} | own

    rows = [
        cell("video", "constrained", 2.0, True),
        cell("video", "constrained", 7.0, True, seed=1),  # of which nobody asked twice
        cell("video", "unconstrained", 1.0, None),
        cell("plateau_ut", "constrained", 1.5, False),
        cell("plateau_ut", "unconstrained", 1.1, None),
    ]
    ours, theirs = solver.longer(pd.DataFrame(rows)).to_dict("records")
    assert (ours["arm"], ours["cells"], ours["lower"]) == ("constrained", 1, pytest.approx(0.25))
    assert (ours["feasible_before"], ours["feasible"]) == (1, 0)
    assert theirs["lower"] == pytest.approx(-0.1) and math.isnan(theirs["feasible"])
    assert math.isnan(ours["standard_error"]), "of a single seed there is none"
    two, _ = solver.longer(pd.DataFrame([*rows, cell("plateau_ut", "constrained", 3.5, True, seed=1)])).to_dict(
        "records"
    )
    assert (two["lower"], two["standard_error"]) == (pytest.approx(0.375), pytest.approx(0.125)), "of 25 and 50 %"
    assert solver.longer(pd.DataFrame(rows[:3])).empty
    lost = [*rows, cell("plateau_ut", "constrained", math.nan, False, seed=1)]
    ours, _ = solver.longer(pd.DataFrame(lost)).to_dict("records")
    assert (ours["cells"], ours["diverged"], ours["lower"]) == (2, 1, pytest.approx(0.25)), "it shows as lost"
    before = [row | {"diverged": row["seed"] == 1} for row in rows]
    ours, _ = solver.longer(pd.DataFrame([*before, cell("plateau_ut", "constrained", 3.5, True, seed=1)])).to_dict(
        "records"
    )
    assert ours["lower"] == pytest.approx(0.25), "nor where the epochs that are doubled had lost the cell"
    stopped = [*rows, cell("plateau_ut", "constrained", 9.0, False, seed=1) | {"diverged": True}]
    ours, _ = solver.longer(pd.DataFrame(stopped)).to_dict("records")
    assert (ours["diverged"], ours["lower"]) == (1, pytest.approx(0.25)), "nor do the losses before it count"


def test_the_share_that_is_feasible_grows_with_the_tolerance_and_shared_or_lost_cells_count_once_or_as_none() -> (
    None
):
    worst = {0: -0.1, 1: 0.005, 2: 0.015, 3: 0.5, 4: -0.2}  # by seed; the last one diverged
    rows = [
        CELL | {"arm": "constrained", "seed": seed, "worst_violation": value, "alpha": 0.25, "diverged": seed == 4}
        for seed, value in worst.items()
    ]
    rows += [row | {"experiment": "alpha", "varied": "0.25"} for row in rows]  # what a study of alpha shares
    rows += [rows[0] | {"experiment": "alpha", "varied": "0.5", "alpha": 0.5}]
    rows += [rows[0] | {"arm": "unconstrained", "worst_violation": 3.0}]
    found = solver.by_tolerance(pd.DataFrame(rows), fake_params()).set_index("alpha")
    assert found["cells"].to_dict() == {0.25: 5, 0.5: 1} and (found["tolerance"] == 0.02).all()
    other = [row | {"arm": "constrained_range"} for row in rows[:5]]
    both = solver.by_tolerance(pd.DataFrame(rows + other), fake_params({"arms": [*ARMS, "constrained_range"]}))
    assert both.set_index("alpha")["cells"].to_dict() == {0.25: 10, 0.5: 1}, "each arm's cells are its own"
    shares = found.loc[0.25, ["at_zero", "at_half", "at_tolerance"]].tolist()
    assert shares == pytest.approx([0.2, 0.4, 0.6])
    assert found.loc[0.25, "worst"] == pytest.approx(0.01)


def test_a_pilot_of_the_margin_counts_the_cells_that_hold_to_half_the_tolerance() -> None:
    study = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 2, "eps": 0.13, "arm": "constrained"}
    study |= {"beside": ["unconstrained"], "vary": "margin", "overrides": {}}
    params = fake_params(
        {
            "study.pilot": study | {"tested": False},
            "study.seen": study,
            "profiles.demo.studies.pilot": {"values": [0.05, 0.1], "seeds": [0]},
            "profiles.demo.studies.seen": {"values": [0.05], "seeds": [0]},
            "studies": ["pilot", "seen"],
        }
    )

    def cell(seed: int, varied: str, worst: float, arm: str = "constrained", experiment: str = "pilot") -> dict:
        own = {"experiment": experiment, "varied": varied, "worst_violation": worst, "validation_loss": 0.5 + seed}
        return CELL | {"seed": seed, "arm": arm, "diverged": math.isnan(worst)} | own

    rows = [
        cell(0, "0.05", 0.011),  # of a tolerance of .02
        cell(1, "0.05", 0.009),
        cell(2, "0.05", math.nan),
        cell(0, "0.1", -0.2),
        cell(0, "0.1", 0.5, arm="unconstrained"),  # which enforces none
        cell(0, "0.1", 0.5, experiment="seen"),  # test data
    ]
    small, large = solver.pilots(pd.DataFrame(rows), params).to_dict("records")
    assert [small[name] for name in ("margin", "cells", "diverged", "within_half")] == [0.05, 3, 1, 1]
    assert (small["largest"], small["median"]) == (pytest.approx(0.011), pytest.approx(0.010))
    assert small["validation_loss"] == 1.0, "of the two that did not diverge"
    assert (large["cells"], large["within_half"], large["largest"]) == (1, 1, pytest.approx(-0.2))
    assert solver.pilots(pd.DataFrame(rows[-1:]), params).empty
