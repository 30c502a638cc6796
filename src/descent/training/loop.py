"""The one training loop: a stack of cells, any model, any task, any arm."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.training.arm import Base
from descent.training.devices import autocast
from descent.training.drawing import in_turn
from descent.training.schema import ADAM, Optimizer, Training


@runtime_checkable
class Task(Protocol):
    """What a stack learns: batches that are a function of (epoch, step), and one loss per cell and layer."""

    steps: int

    def batch(self, epoch: int, step: int) -> Any:
        """One training batch for all cells."""

    def validation(self) -> Iterable[tuple[Any, int]]:
        """The validation batches, the same in every epoch, with their sizes."""

    def losses(self, model: nn.Module, batch: Any) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L of every cell."""

    def compile(self, how: str) -> None:
        """Compile (training.compile) the losses less the noise; a model's dropout is the compiler's own then."""


@runtime_checkable
class Checkpoint(Protocol):
    """Where the newest state of a stack is kept; a resumed run equals an uninterrupted one."""

    def restore(self, parts: dict[str, Any], run: "Run", device: torch.device) -> None:
        """Load the newest state into parts (model, optimizer, arm) and run; do nothing where there is none."""

    def save(self, parts: dict[str, Any], run: "Run") -> None:
        """Keep their state, whole or not at all."""


@dataclass
class Run:
    """The state of a stack in training; what a checkpoint holds beside model, optimizer and arm."""

    alive: Bool[Tensor, " cells"]
    missed: Float[Tensor, " cells"]  # of the reported epoch: relative violation beyond the tolerance,
    score: Float[Tensor, " cells"]  # and last layer's validation loss
    epoch: Tensor  # of the reported weights, counted from 1; 0 is the initial model
    weights: dict[str, Tensor]
    history: list[dict[str, Tensor]] = field(default_factory=list)


def train(
    model: nn.Module,
    task: Task,
    arm: Base,
    settings: Training,
    epochs: int,
    lr: float,
    selection: str,
    tolerance: float,
    checkpoint: Checkpoint,
    progress: Callable[[int, Tensor], None],
    primal: Optimizer = ADAM,
) -> Run:
    """Train a stack to the end, from its checkpoint where there is one.

    Args:
        model: `states` and `readout`, every parameter with a leading cells axis.
        arm: what is minimised and what follows each step; the arms differ in nothing else.
        selection: which epoch's weights a cell reports: `feasible` (best validation f_L among epochs whose worst
            relative violation is within `tolerance`, else the least violation), `best`, or `final`.
        checkpoint: where the newest state of this stack is kept, at epoch ends `checkpoint_seconds` apart.
        primal: what steps the weights.
        progress: told after each epoch how many are done, and f of the epoch.

    Returns:
        For each cell the reported weights and epoch, the history of every epoch, and whether it is alive:
        a cell of which a loss that its arm watches is NaN or above `diverged_above` is frozen, the others go on.
    """
    device = next(model.parameters()).device
    cells = next(model.parameters()).shape[0]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[primal.kind]
    moments = {"betas": tuple(settings.betas), "weight_decay": primal.weight_decay}
    # One step for all cells: Adam works number by number, so that in it no cell meets another.
    optimizer = kind(model.parameters(), lr=lr, fused=True, **moments)
    run = Run(
        alive=torch.ones(cells, dtype=torch.bool, device=device),
        missed=torch.full((cells,), torch.inf, device=device),
        score=torch.full((cells,), torch.inf, device=device),
        epoch=torch.zeros(cells, dtype=torch.int64),
        weights={name: value.detach().clone() for name, value in model.state_dict().items()},
    )
    parts = {"model": model, "optimizer": optimizer, "arm": arm}
    checkpoint.restore(parts, run, device)
    if settings.compile:  # behind the checkpoint, which knows nothing of it
        task.compile(settings.compile)
    saved = time.monotonic()
    for epoch in range(len(run.history), epochs):
        began = time.monotonic()
        f, norm, clipped = _epoch(model, task, arm, optimizer, settings, run, epoch, lr, epochs)
        held_out = _validate(model, task, settings)
        run.alive &= (arm.watched(held_out) < settings.diverged_above).all(1)
        log = arm.end_epoch(f, held_out)
        if epoch >= arm.warmup_epochs:  # before, every arm is ERM
            _select(model, run, arm.worst(held_out), held_out[:, -1], selection, tolerance, epoch + 1)
        log |= {"loss_train": f, "loss_validation": held_out, "grad_norm": norm, "clipped": clipped}
        log["seconds"] = torch.tensor(time.monotonic() - began)
        run.history.append({name: value.cpu() for name, value in log.items()})
        progress(epoch + 1, f)
        if epoch + 1 < epochs and time.monotonic() - saved >= settings.checkpoint_seconds:
            checkpoint.save(parts, run)
            saved = time.monotonic()
    return run


def _epoch(
    model: nn.Module,
    task: Task,
    arm: Base,
    optimizer: torch.optim.Optimizer,
    settings: Training,
    run: Run,
    epoch: int,
    lr: float,
    epochs: int,
) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"], Float[Tensor, " cells"]]:
    """One pass of primal (and dual) steps.

    Returns:
        The means of layer losses and gradient norms over the steps, and in which share of them a cell's gradient
        was clipped.
    """
    total, norms, clipped = 0.0, 0.0, 0.0
    draw = partial(task.batch, epoch)
    ahead = run.alive.device.type == "cuda"
    for step, batch in enumerate(in_turn(draw, task.steps, ahead)):
        for group in optimizer.param_groups:  # by the step: in stairs it would depend on how long an epoch is
            group["lr"] = lr * rate(settings, (epoch + step / task.steps) / epochs)
        f, norm = primal_dual_step(model, task.losses, batch, arm, optimizer, settings, run.alive, epoch)
        total = total + f
        norms = norms + norm
        clipped = clipped + (norm > settings.clip_norm).float()
    return total / task.steps, norms / task.steps, clipped / task.steps


def primal_dual_step(
    model: nn.Module,
    losses: Callable[[nn.Module, Any], Tensor],
    batch: Any,
    arm: Base,
    optimizer: torch.optim.Optimizer,
    settings: Training,
    alive: Bool[Tensor, " cells"],
    epoch: int,
) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"]]:
    """One step of Algorithm 1 on one batch; `alive` loses the cells that diverge.

    One forward gives all layer losses; the weights descend, then the arm moves its duals. On a GPU nothing here
    asks for a number: the host is free to be steps ahead.
    """
    device = next(model.parameters()).device
    with autocast(device, settings.precision):
        f = losses(model, batch)
    alive &= (arm.watched(f.detach()) < settings.diverged_above).all(1)  # false for NaN too
    optimizer.zero_grad()
    # No cell has another's weights in its loss, so that of the sum each gets its own gradient; and a lost cell's
    # loss is left out, not multiplied by zero, which leaves a NaN what it is.
    torch.where(alive, arm.objective(f, epoch), 0.0).sum().backward()
    norm = clip(list(model.parameters()), settings.clip_norm, alive)
    if alive.device.type != "cpu" or not alive.all():  # a GPU is not asked: its host would wait for the answer
        _freeze(optimizer, alive)
    optimizer.step()
    arm.update(lambda: _again(model, losses, batch, settings), alive, epoch)
    return f.detach(), norm


def rate(settings: Training, done: float) -> float:
    """The share of the learning rate in force after this share of the steps: a linear rise, then the schedule."""
    if done < settings.warmup:
        return done / settings.warmup
    rest = (done - settings.warmup) / (1 - settings.warmup)
    return (1 + math.cos(math.pi * rest)) / 2 if settings.schedule == "cosine" else 1.0


def clip(parameters: list[nn.Parameter], limit: float, alive: Bool[Tensor, " cells"]) -> Float[Tensor, " cells"]:
    """Scale each cell's gradient to at most `limit` in norm; frozen cells get none. Returns the norms.

    A cell whose gradient is not finite though its losses are leaves `alive` too.
    """
    # One norm a cell: with one for the stack a cell's steps would depend on its neighbours.
    norms = [torch.linalg.vector_norm(p.grad.flatten(1), dim=1) for p in parameters]
    norm = torch.linalg.vector_norm(torch.stack(norms), dim=0)
    alive &= norm.isfinite()
    scale = limit / norm.clamp(min=limit)
    for p in parameters:
        shape = (-1,) + (1,) * (p.dim() - 1)
        p.grad.mul_(scale.view(shape)).masked_fill_(~alive.view(shape), 0)
    return norm


def _freeze(optimizer: torch.optim.Optimizer, alive: Bool[Tensor, " cells"]) -> None:
    """Without gradient and without momentum Adam moves nothing. AdamW's decay still shrinks the weights, of which
    the reported ones are copies."""
    for state in optimizer.state.values():
        momentum = state["exp_avg"]
        momentum.masked_fill_(~alive.view((-1,) + (1,) * (momentum.dim() - 1)), 0)


@torch.no_grad()
def _again(model: nn.Module, losses: Callable, batch: Any, settings: Training) -> Tensor:
    with autocast(next(model.parameters()).device, settings.precision):
        return losses(model, batch)


@torch.no_grad()
def _validate(model: nn.Module, task: Task, settings: Training) -> Float[Tensor, "cells depth"]:
    total, count = 0.0, 0
    for batch, size in task.validation():
        total = total + size * _again(model, task.losses, batch, settings)
        count += size
    return total / count


def _select(
    model: nn.Module, run: Run, worst: Tensor, last: Tensor, selection: str, tolerance: float, epoch: int
) -> None:
    """Keep this epoch's weights for the cells that it improves: a smaller miss first, then a smaller loss."""
    # What was never kept stays at infinity, so that the first epoch with a finite loss is better.
    missed = (worst - tolerance).clamp(min=0) if selection == "feasible" else torch.zeros_like(worst)
    better = (missed < run.missed) | ((missed == run.missed) & (last < run.score)) | (selection == "final")
    better &= run.alive & last.isfinite()
    run.missed = torch.where(better, missed, run.missed)
    run.score = torch.where(better, last, run.score)
    run.epoch[better.cpu()] = epoch
    for name, value in model.state_dict().items():
        run.weights[name][better] = value[better]
