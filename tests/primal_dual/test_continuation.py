"""A tighter problem first: the margin in force, and who sees it."""

import pytest
import torch

from descent.arms import constrained, penalty
from descent.primal_dual import constraints
from descent.primal_dual.constraints import violations
from tests.fakes.core import PRIMAL_DUAL, small_problem
from tests.fakes.primal_dual import CPU

F = [[1.0, 0.7, 0.56], [2.0, 1.0, 0.9]]


@pytest.mark.parametrize(
    ("done", "margin"), [(0.0, 0.15), (0.3, 0.15), (0.6, 0.15), (0.775, 0.1), (0.95, 0.05), (0.999, 0.05)]
)
def test_the_margin_is_held_and_then_falls_in_a_straight_line(done: float, margin: float) -> None:
    problem = small_problem(alpha=0.2, margin=0.05, margin_start=0.15)
    assert constraints.margin(problem, done) == pytest.approx(margin)


@pytest.mark.parametrize("start", [0.0, 0.02, 0.05])
def test_a_start_that_is_no_tighter_changes_nothing(start: float) -> None:
    problem = small_problem(margin=0.05, margin_start=start)
    assert {constraints.margin(problem, done) for done in (0.0, 0.5, 0.8, 1.0)} == {0.05}


@pytest.mark.parametrize("form", ["difference", "ratio", "log"])
def test_weights_and_duals_see_the_margin_in_force_and_feasibility_none(form: str) -> None:
    own = PRIMAL_DUAL | {"constraint": form, "alpha": 0.2, "margin": 0.05, "margin_start": 0.15}
    settings = constrained.Settings(**own | {"warmup_epochs": 0, "dual_forward": "same", "dual_lr": 0.1})
    arm, f = constrained.Arm([settings] * 2, 2, CPU), torch.tensor(F)
    for done, margin in [(0.0, 0.15), (0.775, 0.1), (0.95, 0.05)]:
        arm.begin_epoch(done)
        arm.objective(f, 0)
        asked = violations(f, small_problem(alpha=0.2, R0=own["R0"], constraint=form, margin=margin))
        torch.testing.assert_close(arm.v, asked)
        worst = torch.stack([f[:, 0] / own["R0"] - 1, f[:, 1] / f[:, 0] - 0.8, f[:, 2] / f[:, 1] - 0.8]).amax(0)
        torch.testing.assert_close(arm.worst(f), worst)


def test_a_penalty_begins_as_tight_as_the_arm_that_it_stands_beside() -> None:
    own = PRIMAL_DUAL | {"alpha": 0.2, "margin": 0.05, "margin_start": 0.15, "warmup_epochs": 0, "dual_lr": 0.1}
    arm, f = penalty.Arm([penalty.Settings(**own)] * 2, 2, CPU), torch.tensor(F)
    for done, margin in [(0.1, 0.15), (1.0, 0.05)]:
        arm.begin_epoch(done)
        v = violations(f, small_problem(alpha=0.2, R0=own["R0"], margin=margin)).clamp(min=0)
        torch.testing.assert_close(arm.objective(f, 0), f[:, -1] + own["rho"] / 2 * v.square().sum(1))
