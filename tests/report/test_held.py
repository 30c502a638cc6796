"""Whether the solver held, and what another rule for weights would have decided, on tables made by hand."""

import math

import pandas as pd
import pytest

from descent.analysis.results import ABSENT
from descent.report import held
from tests.fakes.results import fake_params

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
    found = held.selection(pd.DataFrame(rows), fake_params()).set_index("arm")
    assert found.loc["constrained", "lower"] == pytest.approx(math.log(4 / 2))
    assert found.loc["unconstrained", "lower"] == pytest.approx(math.log(4 / 1))
    assert found["earlier"].tolist() == [1, 1] and found["cells"].tolist() == [1, 1]


def test_where_no_epoch_is_feasible_the_rule_takes_the_smallest_violation() -> None:
    rows = epochs("constrained", [3.0, 1.0, 2.0], [0.3, 0.9, 0.4])
    (lower,) = held.selection(pd.DataFrame(rows), fake_params())["lower"]
    assert lower == pytest.approx(math.log(2 / 3))
    same = held.selection(pd.DataFrame(epochs("constrained", [3.0, 2.0], [0.3, 0.1])), fake_params())
    assert same["earlier"].tolist() == [0] and same["lower"].tolist() == [0]


def test_shares_are_of_the_cells_that_enforce_the_constraints() -> None:
    def cell(arm: str, seed: int, feasible: bool, swing: float) -> dict:
        own = {"feasible": feasible, "feasible_test": False, "active": True, "diverged": False, "clipped": 0.5}
        return CELL | {"arm": arm, "seed": seed, "oscillation": swing, "feasible_epochs": 0.25} | own

    cells = pd.DataFrame(
        [
            cell("constrained", 0, True, 0.1),
            cell("constrained", 1, False, 0.3),
            cell("unconstrained", 0, True, 0.9),
        ]
    )
    weights = [
        ABSENT | CELL | {"arm": "constrained", "seed": seed, "metric": "weight", "layer": layer, "value": value}
        for seed, values in enumerate([(0.0, -0.5, 1.1), (0.0, 0.1, 1.0)])
        for layer, value in enumerate(values)
    ]
    (row,) = held.solver(cells, pd.DataFrame(weights), fake_params()).to_dict("records")
    assert row["moved"] == pytest.approx((0.5 + 0.1) / 2), "from ERM's 0, 0, 1"
    assert (row["cells"], row["validation"], row["test"], row["active"]) == (2, 0.5, 0, 1)
    assert (row["oscillation"], row["oscillation_most"], row["epochs"]) == (pytest.approx(0.2), 0.3, 0.25)
