"""What is per cell in the loop: clipping, and freezing what diverges."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from descent.cells import Cell
from descent.models.parts.layers import dct
from descent.runner.stacks import history
from descent.tasks.video.batches import Batch, SequenceTask
from descent.tasks.video.data import Prepared
from descent.training.loop import Run
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


def test_a_stack_that_has_lost_all_its_cells_ends_and_a_lost_cells_history_is_as_long_alone_as_beside_others(
    prepared: Prepared, tmp_path: Path
) -> None:
    """In the third of four epochs cell 1 is lost, in the second one all are."""

    def run(cells: list[Cell], since: tuple[int, int], harm: Callable[[Tensor], Tensor]) -> tuple[Run, list]:
        asked = []

        class Failing(SequenceTask):
            def __init__(self, task: SequenceTask) -> None:
                vars(self).update(vars(task))

            def batch(self, epoch: int, step: int) -> Batch:
                asked.append((epoch, step))
                return super().batch(epoch, step)

            def losses(self, model: nn.Module, batch: Batch) -> Tensor:
                f = super().losses(model, batch)
                return harm(f) if asked[-1] >= since else f

        path = tmp_path / f"{len(cells)}{since}.pt"
        return fit(small_params(), prepared, cells, path, wrap=Failing)[1], asked

    cells, nan = stack("unconstrained"), torch.tensor([[0.0], [math.nan], [0.0]])
    beside, steps = run(cells, (2, 1), lambda f: f + nan)
    alone, _ = run(cells[1:2], (2, 1), lambda f: f + math.nan)
    assert beside.alive.tolist() == [True, False, True] and steps[-1][0] == 3, "the others go on to their end"
    ours, theirs = (history(made, index).drop(columns="seconds") for made, index in ((beside, 1), (alone, 0)))
    assert ours["epoch"].unique().tolist() == [1, 2, 3] and history(beside, 0)["epoch"].max() == 4
    assert ours["loss_train"].notna().sum() == 8 and ours.equals(theirs)

    _, steps = run(cells, (1, 0), lambda f: f * math.nan)
    assert steps[-1][0] == 1, "nobody is left to learn in the third epoch"


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
