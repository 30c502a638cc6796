"""Unlike cells in one stack: each has the multipliers and slacks that it would have alone."""

import pytest
import torch

from descent.arms import constrained
from descent.arms.constrained import Arm, Settings
from descent.primal_dual.multipliers import Multipliers
from descent.primal_dual.problem import Problem
from descent.training.arm import columns
from tests.fakes.core import small_problem
from tests.fakes.primal_dual import ALIVE, CPU, normal


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


NUMBERS = [
    {"alpha": 0.05, "R0": 0.5, "rho": 0.7, "dual_lr": 0.1},
    {"alpha": 0.3, "R0": 0.5, "rho": 4.0, "dual_lr": 0.1},
    {"alpha": 0.3, "R0": 1.5, "rho": 0.7, "dual_lr": 0.01},
]


def with_numbers(problem: Problem, numbers: dict[str, float]) -> Settings:
    return Settings(**problem.model_dump() | numbers)


@pytest.mark.parametrize(("kind", "constraint"), [("adam", "difference"), ("sgd", "ratio")])
@pytest.mark.parametrize("resilience", ["decay", "slacks", "none"])
def test_unlike_cells_in_one_stack_are_priced_as_alone(resilience: str, kind: str, constraint: str) -> None:
    problem = small_problem(resilience=resilience, dual_optimizer=kind, constraint=constraint, restart=False)
    settings = [with_numbers(problem, numbers) for numbers in NUMBERS]
    stacked, alone = Arm(settings, 3, CPU), [Arm([own], 3, CPU) for own in settings]
    alive, priced = torch.ones(3, dtype=torch.bool), torch.zeros(3, dtype=torch.bool)
    for step in range(25):
        f = torch.randn(3, 4, generator=torch.Generator().manual_seed(step)).exp()
        objective, worst = stacked.objective(f, 1), stacked.worst(f)
        stacked.update(torch.Tensor, alive, 1)
        log = stacked.end_epoch(f, 2 * f)
        for index, arm in enumerate(alone):
            own = f[index : index + 1]
            torch.testing.assert_close(arm.objective(own, 1)[0], objective[index], rtol=0, atol=1e-12)
            torch.testing.assert_close(arm.worst(own)[0], worst[index], rtol=0, atol=1e-12)
            arm.update(torch.Tensor, alive[:1], 1)
            for name, value in arm.end_epoch(own, 2 * own).items():
                torch.testing.assert_close(value[0], log[name][index], rtol=0, atol=1e-12)
            priced[index] |= bool(arm.multipliers.value.max() > 0.01)
    assert priced.all()
    values = stacked.multipliers.value
    assert min((values[a] - values[b]).abs().max() for a, b in ((0, 1), (1, 2), (0, 2))) > 1e-3


def test_dual_weight_decay_is_that_of_torchs_adam_step_by_step() -> None:
    settings = [with_numbers(small_problem(resilience="decay"), numbers) for numbers in NUMBERS]
    shared = columns(settings, ("rho", "dual_lr"), CPU)
    stacked, alive = Multipliers((3, 2), shared, CPU), torch.ones(3, dtype=torch.bool)
    theirs = [torch.zeros(2, requires_grad=True) for _ in settings]
    optimizers = [
        torch.optim.Adam([value], lr=s.dual_lr, weight_decay=1 / s.rho, maximize=True)
        for value, s in zip(theirs, settings, strict=True)
    ]
    projected = 0
    for step in range(400):
        gap = 0.3 + 0.6 * torch.randn(3, 2, generator=torch.Generator().manual_seed(step))
        gap[:, 1] -= 0.4 if step < 150 else 0.0
        for value, optimizer, own in zip(theirs, optimizers, gap, strict=True):
            value.grad = own.clone()
            optimizer.step()
            projected += int((value.data < 0).sum())
            value.data.clamp_(min=0)
        stacked.ascend(gap, alive)
        torch.testing.assert_close(stacked.value.detach(), torch.stack(theirs).detach(), rtol=0, atol=1e-12)
    assert projected > 50 and stacked.value[:, 0].min() > 0.05
