"""The method on numbers small enough to check by hand: constraints, Lagrangian, and what an arm minimises."""

from math import log

import pytest
import torch
from torch import Tensor

from descent.arms import constrained, penalty, unconstrained
from descent.primal_dual.constraints import relative_violations, violations
from descent.primal_dual.lagrangian import lagrangian
from descent.primal_dual.problem import Problem
from tests.fakes.core import small_problem
from tests.fakes.primal_dual import CPU, normal

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


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("cap_layer", [0, 1])
def test_logarithms_of_ratios_are_differences_of_logarithms(through: bool, cap_layer: int) -> None:
    """In value and in slope, for cells of unlike alpha and R0 too."""
    one = small_problem(alpha=0.3, R0=1.7, constraint="log", cap_layer=cap_layer, through_previous=through)
    column = {"alpha": torch.tensor([[0.1], [0.3], [0.6]]), "R0": torch.tensor([[0.5], [1.7], [9.0]])}
    weights = normal(3, 7, seed=1)
    for problem in (one, one.model_copy(update=column)):
        f, same = (3 * normal(3, 7)).exp().requires_grad_(), (3 * normal(3, 7)).exp().requires_grad_()
        logs = same.log()
        before = logs[:, cap_layer:-1] if through else logs[:, cap_layer:-1].detach()
        expected = torch.zeros_like(logs)
        expected[:, cap_layer] = logs[:, cap_layer] - torch.as_tensor(problem.R0).log().squeeze()
        expected[:, cap_layer + 1 :] = logs[:, cap_layer + 1 :] - before - torch.as_tensor(1 - problem.alpha).log()
        found = violations(f, problem)
        torch.testing.assert_close(found, expected)
        slopes = [torch.autograd.grad((weights * v).sum(), of) for v, of in ((found, f), (expected, same))]
        torch.testing.assert_close(*slopes)


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


def test_where_no_gradient_reaches_the_layer_before_the_effective_weights_are_the_multipliers() -> None:
    problem = small_problem(alpha=0.3, R0=1.7, through_previous=False)
    f, multipliers = normal(3, 7).exp(), normal(3, 7, seed=1).abs()
    expected = multipliers.clone()
    expected[:, -1] += 1
    torch.testing.assert_close(logged_weights(multipliers, f, problem), expected)


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


def test_the_unconstrained_arm_asks_for_the_last_loss_and_nothing_else() -> None:
    arm, f = unconstrained.Arm([unconstrained.Settings()] * 2, 2, CPU), torch.tensor(F)
    assert arm.objective(f, epoch=5).tolist() == [2.0, 0.25]
    assert arm.worst(f).tolist() == [0.0, 0.0] and arm.end_epoch(f, f) == {} and arm.state_dict() == {}


def test_in_the_warm_up_a_cell_is_lost_by_the_last_loss_alone_as_one_of_erm() -> None:
    f = torch.tensor([[1e9, 5.0, 2.0]])
    problem = small_problem().model_copy(update={"warmup_epochs": 1})
    for one in (constrained, penalty):
        arm = one.Arm([one.Settings(**problem.model_dump())], 2, CPU)
        assert arm.watched(f, 0).tolist() == [[2.0]] and torch.equal(arm.watched(f, 1), f)
    erm = unconstrained.Arm([unconstrained.Settings()], 2, CPU)
    assert erm.watched(f, 0).tolist() == erm.watched(f, 1).tolist() == [[2.0]]
