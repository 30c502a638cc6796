"""What is per cell in the loop: clipping, freezing what diverges, and which epoch's weights are reported."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from descent.cells import Cell
from descent.models.parts.layers import dct
from descent.tasks.video.batches import Batch, SequenceTask
from descent.tasks.video.data import Prepared
from descent.training.loop import Run, _select
from descent.training.step import clip
from tests.fakes.core import fit, same, small_params

ARMS = ("constrained", "unconstrained", "deep_supervision")


def stack(arm: str) -> list[Cell]:
    return [Cell("video", "ucsd", "dust", arm, 3, eps, 0) for eps in (0.0, 0.2, 0.5)]


class Broken(SequenceTask):
    """From one training batch on, `harm` changes the losses of cell 1."""

    def __init__(
        self, task: SequenceTask, harm: Callable[[Tensor, nn.Module], Tensor], since: tuple[int, int]
    ) -> None:
        vars(self).update(vars(task))
        self.harm, self.since, self.at, self.last_weights = harm, since, (0, 0), None

    def batch(self, epoch: int, step: int) -> Batch:
        self.at = (epoch, step)
        return super().batch(epoch, step)

    def losses(self, model: nn.Module, batch: Batch) -> Tensor:
        f = super().losses(model, batch)
        if self.at < self.since:
            return f
        if self.last_weights is None:
            self.last_weights = next(model.parameters())[1].detach().clone()
        return torch.stack([f[0], self.harm(f[1], model), f[2]])


def first_layer(factor: float) -> Callable[[Tensor, nn.Module], Tensor]:
    return lambda f, model: torch.cat([factor * f[:1], f[1:]])


def bad_gradient(f: Tensor, model: nn.Module) -> Tensor:
    """Adds zero, whose gradient is NaN."""
    p = next(model.parameters())[1]
    return f + (p - p.detach()).square().sum().sqrt()


HARMS = {
    "nan": lambda f, model: f * math.nan,
    "infinite": lambda f, model: f / 0,
    "nan in one layer": first_layer(math.nan),
    "too large": first_layer(1e7),
    "gradient": bad_gradient,
}


@pytest.mark.parametrize(
    ("arm", "harm"),
    [(arm, harm) for arm in ARMS for harm in HARMS if (arm, harm) != ("unconstrained", "too large")],
)
def test_a_cell_that_diverges_is_frozen_and_the_others_go_on(
    prepared: Prepared, tmp_path: Path, arm: str, harm: str
) -> None:
    params, made = small_params({"video.selection": "final"}), []
    _, well = fit(params, prepared, stack(arm), tmp_path / "c.pt")

    def wrap(task: SequenceTask) -> Broken:
        made.append(Broken(task, HARMS[harm], since=(2, 1)))
        return made[0]

    model, run = fit(params, prepared, stack(arm), tmp_path / "c.pt", wrap=wrap)
    assert run.alive.tolist() == [True, False, True] and well.alive.all()
    assert run.epoch.tolist() == [4, 2, 4], "the last epoch that it ended alive"
    assert same(run, well, cells=[0, 2])
    assert torch.equal(next(model.parameters())[1], made[0].last_weights), "not one step more"
    assert not torch.equal(made[0].last_weights, run.weights["dictionaries"][1])
    assert run.weights["dictionaries"].isfinite().all() and run.score.isfinite().all()
    assert all(
        log[name].isfinite().all() for log in run.history for name in log if name in ("multiplier", "slack")
    )


def test_a_large_loss_of_a_layer_that_the_objective_leaves_alone_ends_no_cell(
    prepared: Prepared, tmp_path: Path
) -> None:
    params, cells = small_params({"video.selection": "final"}), stack("unconstrained")
    _, well = fit(params, prepared, cells, tmp_path / "c.pt")

    def wrap(task: SequenceTask) -> Broken:
        return Broken(task, HARMS["too large"], since=(2, 1))

    _, run = fit(params, prepared, cells, tmp_path / "d.pt", wrap=wrap)
    assert run.alive.all() and torch.equal(run.weights["dictionaries"], well.weights["dictionaries"])


def test_an_epoch_of_the_warm_up_is_never_reported(prepared: Prepared, tmp_path: Path) -> None:
    def wrap(task: SequenceTask) -> Broken:
        return Broken(task, HARMS["nan"], since=(1, 1))

    _, run = fit(small_params(), prepared, stack("constrained"), tmp_path / "c.pt", wrap=wrap)
    assert run.epoch[1] == 0 and run.score[1] == torch.inf, "in the warm-up it was ERM, and that is all it was"


@pytest.mark.parametrize("arm", ARMS)
def test_a_cell_that_never_had_a_finite_loss_reports_no_epoch(
    prepared: Prepared, tmp_path: Path, arm: str
) -> None:
    _, run = fit(
        small_params(),
        prepared,
        stack(arm),
        tmp_path / "c.pt",
        wrap=lambda task: Broken(task, HARMS["nan"], since=(0, 0)),
    )
    assert run.alive.tolist() == [True, False, True]
    assert run.epoch[1] == 0 and (run.epoch[[0, 2]] > 0).all()
    assert run.score[1] == torch.inf


def test_the_limit_is_the_one_in_params(prepared: Prepared, tmp_path: Path) -> None:
    ended = [
        fit(small_params({"training.diverged_above": limit}), prepared, stack("unconstrained"), tmp_path / "c.pt")[
            1
        ]
        for limit in (10000.0, 1e-3)
    ]
    assert ended[0].alive.all() and not ended[1].alive.any()


def gradients(*values: Tensor) -> list[nn.Parameter]:
    parameters = [nn.Parameter(torch.zeros_like(value)) for value in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = value.clone()
    return parameters


def test_each_cells_gradient_is_scaled_to_the_limit_by_its_own_norm_over_all_parameters() -> None:
    weights = torch.tensor([[3.0, 0.0], [0.3, 0.0], [30.0, 40.0]])
    bias = torch.tensor([[[4.0]], [[0.4]], [[120.0]]])
    parameters, alive = gradients(weights, bias), torch.ones(3, dtype=torch.bool)
    norm = clip(parameters, 1.0, alive)
    torch.testing.assert_close(norm, torch.tensor([5.0, 0.5, 130.0]))
    torch.testing.assert_close(parameters[0].grad, torch.tensor([[0.6, 0.0], [0.3, 0.0], [3 / 13, 4 / 13]]))
    torch.testing.assert_close(parameters[1].grad.flatten(), torch.tensor([0.8, 0.4, 12 / 13]))
    assert alive.all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_clipping_gives_a_dead_cell_no_gradient_and_leaves_its_neighbours(bad: float) -> None:
    parameters, alive = (
        gradients(torch.tensor([[6.0, 8.0], [bad, 1.0], [1.0, 1.0]])),
        torch.tensor([True, True, False]),
    )
    clip(parameters, 2.0, alive)
    torch.testing.assert_close(parameters[0].grad, torch.tensor([[1.2, 1.6], [0.0, 0.0], [0.0, 0.0]]))
    assert alive.tolist() == [True, False, False]


def test_clipping_binds_in_the_loop(prepared: Prepared, tmp_path: Path) -> None:
    def ended(limit: float) -> tuple[Tensor, Tensor]:
        params = small_params({"training.clip_norm": limit, "video.selection": "final"})
        run = fit(params, prepared, stack("unconstrained"), tmp_path / "c.pt")[1]
        return (run.weights["dictionaries"] - dct(16, 64)).abs().mean(), run.history[0]["grad_norm"]

    # Adam is blind to the scale of its gradients but for epsilon = 1e-8: only a tiny limit shrinks its steps.
    (tiny, norm), (usual, _) = ended(1e-9), ended(1e9)
    assert 0 < tiny < 0.2 * usual
    assert norm.min() > 1e-3, "the norm before clipping is logged"


def chosen(selection: str, epochs: list[tuple[float, float]], alive_until: int = 99) -> tuple[int, float]:
    """The reported epoch, and the weights kept (which say the epoch they are of)."""
    model = nn.Module()
    model.theta = nn.Parameter(torch.zeros(2, 1))
    run = Run(
        alive=torch.ones(2, dtype=torch.bool),
        missed=torch.full((2,), torch.inf),
        score=torch.full((2,), torch.inf),
        epoch=torch.zeros(2, dtype=torch.int64),
        weights={"theta": torch.zeros(2, 1)},
    )
    for epoch, (worst, last) in enumerate(epochs, start=1):
        run.alive[0] = epoch <= alive_until
        model.theta.data.fill_(epoch)
        _select(model, run, torch.tensor([worst, 0.0]), torch.tensor([last, -epoch]), selection, 0.02, epoch)
    assert run.epoch[1] == len(epochs) == run.weights["theta"][1], "a neighbour that improves every time"
    return int(run.epoch[0]), run.weights["theta"][0].item()


#          worst, f_L
EPOCHS = [(0.5, 1.0), (0.01, 3.0), (0.0, 2.0), (0.3, 0.5), (0.02, 2.5)]


@pytest.mark.parametrize(("selection", "expected"), [("feasible", 3), ("best", 4), ("final", 5)])
def test_the_reported_epoch_is_the_one_that_params_asks_for(selection: str, expected: int) -> None:
    assert chosen(selection, EPOCHS) == (expected, expected)


def test_among_infeasible_epochs_the_least_violation_is_reported() -> None:
    assert chosen("feasible", [(0.5, 1.0), (0.2, 9.0), (0.4, 0.1)]) == (2, 2)
    assert chosen("feasible", [(0.03, 1e-6), (0.02, 9999.0)]) == (2, 2), (
        "any feasible epoch beats an infeasible one"
    )


def test_small_differences_of_the_violation_count() -> None:
    assert chosen("feasible", [(0.50005, 1.0), (0.50001, 1.0)]) == (2, 2)


@pytest.mark.parametrize(("selection", "expected"), [("feasible", 3), ("best", 1), ("final", 3)])
def test_a_dead_cell_reports_nothing_new(selection: str, expected: int) -> None:
    assert chosen(selection, EPOCHS, alive_until=3) == (expected, expected)


@pytest.mark.parametrize("selection", ["feasible", "best", "final"])
def test_an_epoch_without_a_number_is_not_reported(selection: str) -> None:
    bad = [(0.0, 2.0), (math.nan, math.nan)]
    assert chosen(selection, bad) == (1, 1)
