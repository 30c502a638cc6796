"""The method on numbers small enough to check by hand: multipliers and slacks."""

import pytest
import torch

from descent.arms import constrained
from descent.primal_dual.constraints import violations
from descent.primal_dual.multipliers import Multipliers
from descent.primal_dual.problem import Problem
from descent.primal_dual.resilience import Slacks
from tests.fakes.core import small_problem
from tests.fakes.primal_dual import ALIVE, CPU, normal


def arm_of(cells: int, depth: int, dual_lr: float = 0.1, **changes: object) -> constrained.Arm:
    """The constrained arm of a stack of cells that have one problem."""
    settings = constrained.Settings(**small_problem(dual_lr=dual_lr, **changes).model_dump())
    return constrained.Arm([settings] * cells, depth - 1, CPU)


@pytest.mark.parametrize("forward", ["same", "fresh"])
def test_the_duals_may_look_at_a_running_mean_of_the_losses(forward: str) -> None:
    own = {"dual_optimizer": "sgd", "resilience": "none", "constraint": "ratio", "dual_forward": forward}
    arm = arm_of(1, 2, **own, dual_mean=0.8, R0=1.0, alpha=0.2)
    batches = [torch.tensor([[2.0, 4.0]]), torch.tensor([[4.0, 1.0]])]
    for f in batches:
        arm.objective(f if forward == "same" else 9 * f, epoch=1)
        arm.update(f.clone, ALIVE, epoch=1)
    means = [batches[0], (0.8 * batches[0] + batches[1]) / 1.8]
    steps = [violations(mean, arm.problem) for mean in means]
    torch.testing.assert_close(arm.multipliers.value.detach(), 0.1 * (steps[0] + steps[1]))


@pytest.mark.parametrize("dual_optimizer", ["adam", "sgd", "nupi"])
@pytest.mark.parametrize("resilience", ["slacks", "decay", "none"])
def test_multipliers_and_slacks_are_never_negative(dual_optimizer: str, resilience: str) -> None:
    arm = arm_of(2, 5, dual_optimizer=dual_optimizer, resilience=resilience)
    zeros = 0
    for step in range(100):
        arm.objective(normal(2, 5, seed=step).exp(), epoch=1)
        arm.update(torch.Tensor, torch.ones(2, dtype=torch.bool), epoch=1)
        assert arm.multipliers.value.min() >= 0 and arm.slacks.value.min() >= 0
        zeros += int((arm.multipliers.value == 0).sum())
    assert zeros > 10 and arm.multipliers.value.max() > 0.1
    assert (arm.slacks.value.max() > 0) == (resilience == "slacks")


def test_nothing_below_the_cap_is_ever_priced() -> None:
    arm = arm_of(2, 5, cap_layer=1)
    for step in range(50):
        arm.objective(normal(2, 5, seed=step).exp(), epoch=1)
        arm.update(torch.Tensor, torch.ones(2, dtype=torch.bool), epoch=1)
    assert not arm.multipliers.value[:, 0].any() and not arm.slacks.value[:, 0].any()
    assert arm.multipliers.value[:, 1:].max() > 0.1
    below = torch.tensor([[1e6, 0.1, 0.01, 0.001, 0.0001]]).expand(2, -1)
    assert (arm.worst(below) < 0).all()


def test_the_warm_up_leaves_the_duals_alone_and_minimises_the_last_loss() -> None:
    arm = arm_of(1, 3, warmup_epochs=2)
    f = torch.tensor([[9.0, 9.0, 9.0]])
    for epoch, moved in ((0, False), (1, False), (2, True)):
        objective = arm.objective(f, epoch)
        assert objective.item() == 9.0
        arm.update(torch.Tensor, ALIVE, epoch)
        assert arm.multipliers.value.any().item() == moved
    assert arm.objective(f, 2).item() > 9.0


def test_the_duals_move_once_in_dual_every_batches_by_the_mean_violation() -> None:
    problem = small_problem(dual_lr=0.1, dual_every=3, dual_optimizer="sgd", resilience="none")
    multipliers = Multipliers((1, 2), problem, CPU)
    gaps = [torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -5.0]]), torch.tensor([[5.0, 9.0]])]
    for gap in gaps:
        assert not multipliers.value.any()
        multipliers.ascend(gap, ALIVE)
    torch.testing.assert_close(multipliers.value.detach(), 0.1 * torch.tensor([[3.0, 2.0]]))
    multipliers.ascend(gaps[0], ALIVE)
    torch.testing.assert_close(multipliers.value.detach(), 0.1 * torch.tensor([[3.0, 2.0]]))


@pytest.mark.parametrize("forward", ["same", "fresh"])
def test_the_dual_violation_is_of_the_forward_that_is_asked_for(forward: str) -> None:
    arm = arm_of(1, 2, dual_forward=forward, dual_optimizer="sgd", resilience="none", R0=1.0, alpha=0.2)
    arm.objective(torch.tensor([[2.0, 3.0]]), epoch=1)
    arm.update(lambda: torch.tensor([[5.0, 6.0]]), ALIVE, epoch=1)
    expected = {"same": [0.1 * 1.0, 0.1 * 1.4], "fresh": [0.1 * 4.0, 0.1 * 2.0]}[forward]
    torch.testing.assert_close(arm.multipliers.value.detach(), torch.tensor([expected]))


def test_adam_decay_settles_at_violation_times_rho() -> None:
    problem = small_problem(dual_lr=0.01, resilience="decay", rho=2.0)
    multipliers = Multipliers((1, 2), problem, CPU)
    for _ in range(2000):
        multipliers.ascend(torch.tensor([[0.3, 0.1]]), ALIVE)
    torch.testing.assert_close(multipliers.value.detach(), torch.tensor([[0.6, 0.2]]), rtol=0, atol=1e-4)


def moved_slacks(problem: Problem) -> Slacks:
    slacks = Slacks((1, 2), problem, CPU)
    for step in range(9):
        slacks.descend(torch.tensor([[40.0, 30.0 + step]]))
    assert (slacks.value > 0).all()
    return slacks


def test_a_restart_zeroes_the_slacks_and_forgets_their_moments() -> None:
    slacks, fresh = moved_slacks(small_problem(slack_lr=0.5)), Slacks((1, 2), small_problem(slack_lr=0.5), CPU)
    slacks.restart()
    assert not slacks.value.any()
    for lam in (3.0, 0.5, 0.1):
        for each in (slacks, fresh):
            each.descend(torch.tensor([[lam, 2 * lam]]))
        assert torch.equal(slacks.value, fresh.value) and slacks.value.any()


@pytest.mark.parametrize("restart", [True, False])
def test_at_the_end_of_an_epoch_the_arm_logs_its_slacks_and_starts_them_again(restart: bool) -> None:
    arm, f = arm_of(1, 3, R0=1.0, slack_lr=0.5, restart=restart), torch.full((1, 3), 50.0)
    for _ in range(3):
        arm.objective(f, epoch=1)
        arm.update(torch.Tensor, ALIVE, epoch=1)
    before = arm.slacks.value.detach().clone()
    log = arm.end_epoch(f, f)
    assert before.max() > 0 and torch.equal(log["slack"], before)
    assert torch.equal(arm.slacks.value, torch.zeros_like(before) if restart else before)


def test_moments_and_slacks_survive_where_params_say_so() -> None:
    kept, fresh = (
        moved_slacks(small_problem(slack_lr=0.5, reset_moments=False)),
        Slacks((1, 2), small_problem(slack_lr=0.5), CPU),
    )
    kept.restart()
    assert not kept.value.any()
    for each in (kept, fresh):
        each.descend(torch.tensor([[1.0, 1.0]]))
    assert not torch.allclose(kept.value, fresh.value, atol=1e-4)
    untouched = moved_slacks(small_problem(slack_lr=0.5, restart=False))
    before = untouched.value.detach().clone()
    untouched.restart()
    assert torch.equal(untouched.value, before)


def test_the_duals_of_a_frozen_cell_rest() -> None:
    arm = arm_of(2, 3)
    f = torch.full((2, 3), 3.0)
    for _ in range(5):
        arm.objective(f, epoch=1)
        arm.update(torch.Tensor, torch.ones(2, dtype=torch.bool), epoch=1)
    before = arm.multipliers.value.detach().clone()
    assert before.min() > 0.1
    for _ in range(5):
        arm.objective(torch.stack([f[0], f[1] * torch.nan]), epoch=1)
        arm.update(torch.Tensor, torch.tensor([True, False]), epoch=1)
    assert (arm.multipliers.value[0] != before[0]).all() and arm.multipliers.value.isfinite().all()
    assert torch.equal(arm.multipliers.value[1], before[1])
