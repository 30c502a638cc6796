"""The method on numbers small enough to check by hand: constraints, Lagrangian, multipliers, slacks."""

from collections.abc import Iterator
from math import log

import pytest
import torch
from torch import Tensor

from descent.arms import constrained, penalty, unconstrained
from descent.primal_dual.constraints import relative_violations, violations
from descent.primal_dual.lagrangian import lagrangian
from descent.primal_dual.multipliers import Multipliers
from descent.primal_dual.problem import Problem
from descent.primal_dual.resilience import Slacks
from tests.fakes.core import small_problem

CPU = torch.device("cpu")
ALIVE = torch.ones(1, dtype=torch.bool)


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def arm_of(cells: int, depth: int, dual_lr: float = 0.1, **changes: object) -> constrained.Arm:
    """The constrained arm of a stack of cells that have one problem."""
    settings = constrained.Settings(**small_problem(dual_lr=dual_lr, **changes).model_dump())
    return constrained.Arm([settings] * cells, depth - 1, CPU)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


F = [[4.0, 5.0, 2.0], [1.0, 0.5, 0.25]]  # f_0, f_1, f_2 of two cells


@pytest.mark.parametrize(
    ("cap_layer", "constraint", "expected"),
    [
        (0, "difference", [[2.0, 1.8, -2.0], [-1.0, -0.3, -0.15]]),
        (0, "ratio", [[1.0, 0.45, -0.4], [-0.5, -0.3, -0.3]]),
        (1, "difference", [[0.0, 3.0, -2.0], [0.0, -1.5, -0.15]]),
        (1, "ratio", [[0.0, 1.5, -0.4], [0.0, -0.75, -0.3]]),
        (0, "log", [[log(2), log(5 / 3.2), log(2 / 4)], [log(0.5), log(0.5 / 0.8), log(0.25 / 0.4)]]),
    ],
)
def test_violations_equal_those_found_by_hand(cap_layer: int, constraint: str, expected: list) -> None:
    problem = small_problem(alpha=0.2, R0=2.0, cap_layer=cap_layer, constraint=constraint)
    torch.testing.assert_close(violations(torch.tensor(F), problem), torch.tensor(expected))
    shares = relative_violations(torch.tensor(F), problem)
    torch.testing.assert_close(
        shares, violations(torch.tensor(F), problem.model_copy(update={"constraint": "ratio"}))
    )


def test_the_three_forms_have_the_same_feasible_set() -> None:
    f = normal(200, 5).exp()
    problem = small_problem(alpha=0.3, R0=1.7)
    signs = [
        violations(f, problem.model_copy(update={"constraint": form})) > 0
        for form in ("difference", "ratio", "log")
    ]
    assert torch.equal(signs[0], signs[1]) and torch.equal(signs[0], signs[2]) and signs[0].any()


@pytest.mark.parametrize("constraint", ["difference", "ratio", "log"])
def test_a_margin_is_enforced_and_not_asked_for(constraint: str) -> None:
    f, wide = torch.tensor(F), small_problem(alpha=0.2, R0=2.0, constraint=constraint, margin=0.1)
    as_if = small_problem(alpha=0.3, R0=1.8, constraint=constraint)
    torch.testing.assert_close(violations(f, wide), violations(f, as_if))
    plain = small_problem(alpha=0.2, R0=2.0, constraint="ratio")
    torch.testing.assert_close(relative_violations(f, wide), violations(f, plain))


@pytest.mark.parametrize("constraint", ["difference", "ratio", "log"])
@pytest.mark.parametrize("through", [True, False])
def test_the_gradient_reaches_the_layer_before_only_if_asked(constraint: str, through: bool) -> None:
    f = torch.tensor(F, requires_grad=True)
    violations(f, small_problem(alpha=0.2, constraint=constraint, through_previous=through))[:, 2].sum().backward()
    slopes = {"difference": [-0.8, -0.8], "ratio": [-2 / 25, -1.0], "log": [-1 / 5, -2.0]}
    before = slopes[constraint] if through else [0.0, 0.0]
    own = {"difference": [1.0, 1.0], "ratio": [1 / 5, 2.0], "log": [1 / 2, 4.0]}[constraint]
    torch.testing.assert_close(f.grad, torch.tensor([[0.0, b, o] for b, o in zip(before, own, strict=True)]))


def logged_weights(multipliers: Tensor, f: Tensor, problem: Problem) -> Tensor:
    """What the constrained arm logs of one step at these multipliers."""
    arm = constrained.Arm([constrained.Settings(**problem.model_dump())] * len(f), f.shape[1] - 1, CPU)
    arm.multipliers.value.data.copy_(multipliers)
    at = f.clone().requires_grad_()
    arm.objective(at, epoch=5).sum().backward()
    arm.update(lambda: at.detach(), torch.ones(len(f), dtype=torch.bool), epoch=5)
    log = arm.end_epoch(f, f)
    torch.testing.assert_close(log["multiplier_mean"], multipliers)
    return log["weight_mean"]


@pytest.mark.parametrize("cap_layer", [0, 1])
def test_the_lagrangian_is_deep_supervision_with_the_effective_weights(cap_layer: int) -> None:
    problem = small_problem(alpha=0.3, R0=1.7, cap_layer=cap_layer)
    f, multipliers = normal(3, 7).exp().requires_grad_(), normal(3, 7, seed=1).abs()
    multipliers[:, :cap_layer] = 0
    value = lagrangian(f, violations(f, problem), multipliers, problem)
    weights = logged_weights(multipliers, f.detach(), problem)
    torch.testing.assert_close(value, (weights * f).sum(1) - 1.7 * multipliers[:, cap_layer])
    (gradient,) = torch.autograd.grad(value.sum(), f)
    torch.testing.assert_close(gradient, weights)
    assert (weights < 0).any(), "some layer's loss is raised"


def test_the_multipliers_get_no_gradient_from_the_primal_loss() -> None:
    multipliers = torch.ones(1, 3, requires_grad=True)
    f = torch.ones(1, 3, requires_grad=True)
    problem = small_problem()
    lagrangian(f, violations(f, problem), multipliers, problem).sum().backward()
    assert multipliers.grad is None and f.grad.abs().sum() > 0


@pytest.mark.parametrize("constraint", ["ratio", "log"])
def test_the_effective_weights_of_the_forms_without_scale_are_the_slopes_at_f(constraint: str) -> None:
    problem = small_problem(alpha=0.3, R0=1.7, constraint=constraint)
    f, lam = normal(2, 4).exp(), normal(2, 4, seed=1).abs()
    weights = logged_weights(lam, f, problem)
    first = lam[:, 0] / (1.7 if constraint == "ratio" else f[:, 0])
    if constraint == "ratio":
        last = 1 + lam[:, 3] / f[:, 2]
        torch.testing.assert_close(weights[:, 0], first - lam[:, 1] * f[:, 1] / f[:, 0].square())
    else:
        last = 1 + lam[:, 3]
        torch.testing.assert_close(weights[:, 0], (lam[:, 0] - lam[:, 1]) * f[:, 3] / f[:, 0])
    torch.testing.assert_close(weights[:, 3], last)


def test_the_penalty_is_the_lagrangian_at_the_multipliers_of_dual_decay() -> None:
    problem = small_problem(rho=3.0, resilience="decay", R0=1.0)
    arm = penalty.Arm([penalty.Settings(**problem.model_dump())] * 2, 3, CPU)
    f = normal(2, 4).exp()
    v = violations(f, problem)
    best = 3.0 * v.clamp(min=0)  # argmax over lambda >= 0 of lambda v - lambda^2 / (2 rho)
    dual = lagrangian(f, v, best, problem) - best.square().sum(1) / 6
    torch.testing.assert_close(arm.objective(f, epoch=5), dual)
    torch.testing.assert_close(arm.objective(f, epoch=0), f[:, -1])
    assert arm.warmup_epochs == 1 and (v > 0).any()


@pytest.mark.parametrize("forward", ["same", "fresh"])
def test_the_duals_may_look_at_a_running_mean_of_the_losses(forward: str) -> None:
    own = {"dual_optimizer": "sgd", "resilience": "none", "constraint": "ratio", "dual_forward": forward}
    arm = arm_of(1, 2, **own, dual_mean=0.5, R0=1.0, alpha=0.2)
    batches = [torch.tensor([[2.0, 4.0]]), torch.tensor([[4.0, 1.0]])]
    for f in batches:
        arm.objective(f if forward == "same" else 9 * f, epoch=1)
        arm.update(f.clone, ALIVE, epoch=1)
    means = [batches[0], (batches[0] + 2 * batches[1]) / 3]
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


def test_the_unconstrained_arm_asks_for_the_last_loss_and_nothing_else() -> None:
    arm, f = unconstrained.Arm([unconstrained.Settings()] * 2, 2, CPU), torch.tensor(F)
    assert arm.objective(f, epoch=5).tolist() == [2.0, 0.25]
    assert arm.worst(f).tolist() == [0.0, 0.0] and arm.end_epoch(f, f) == {} and arm.state_dict() == {}


def test_each_cell_of_a_stack_has_its_own_alpha_cap_price_and_rate() -> None:
    """What a study varies in one stack gives what it gives alone."""
    columns = [
        {"alpha": 0.1, "R0": 0.5, "rho": 2.0, "dual_lr": 0.1},
        {"alpha": 0.4, "R0": 3.0, "rho": 9.0, "dual_lr": 0.02},
    ]
    for resilience in ("slacks", "decay"):
        own = [small_problem(resilience=resilience, **values) for values in columns]
        settings = [constrained.Settings(**problem.model_dump()) for problem in own]
        together, alone = constrained.Arm(settings, 4, CPU), [constrained.Arm([one], 4, CPU) for one in settings]
        for step in range(30):
            f = normal(2, 5, seed=step).exp()
            objective = together.objective(f, epoch=1)
            together.update(torch.Tensor, torch.ones(2, dtype=torch.bool), epoch=1)
            for cell, arm in enumerate(alone):
                torch.testing.assert_close(arm.objective(f[cell : cell + 1], epoch=1)[0], objective[cell])
                arm.update(torch.Tensor, ALIVE, epoch=1)
        log = together.end_epoch(f, f)
        for cell, arm in enumerate(alone):
            for name, value in arm.end_epoch(f[cell : cell + 1], f[cell : cell + 1]).items():
                torch.testing.assert_close(value[0], log[name][cell])
        assert (log["multiplier"].amax(1) > 0.1).all() and not torch.allclose(*log["multiplier"])
