"""The one training loop: a stack of cells, any model, any task, any arm."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.training.arm import Base
from descent.training.drawing import drawn_in_turn
from descent.training.schema import ADAM, Optimizer, Training
from descent.training.step import Learnt, Steps, optimizer_of, rate


@runtime_checkable
class Task(Learnt, Protocol):
    """What a stack learns: batches that are a function of (epoch, step), and one loss per cell and layer."""

    steps: int

    def batch(self, epoch: int, step: int) -> Any:
        """One training batch for all cells."""

    def validation(self) -> Iterable[tuple[Any, int]]:
        """The validation batches, the same in every epoch, with their sizes."""


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
    began: float = field(default_factory=time.time)  # seconds since 1970, before any interruption


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
        a cell of which a loss that its arm watches is NaN or above `diverged_above` is frozen, the others go on;
        where none is left the stack ends.
    """
    device = next(model.parameters()).device
    cells = next(model.parameters()).shape[0]
    optimizer = optimizer_of(primal, model.parameters(), lr, settings.betas)
    run = Run(
        alive=torch.ones(cells, dtype=torch.bool, device=device),
        missed=torch.full((cells,), torch.inf, device=device),
        score=torch.full((cells,), torch.inf, device=device),
        epoch=torch.zeros(cells, dtype=torch.int64),
        weights={name: value.detach().clone() for name, value in model.state_dict().items()},
    )
    parts = {"model": model, "optimizer": optimizer, "arm": arm}
    checkpoint.restore(parts, run, device)
    # Behind the checkpoint, which knows nothing of compiled or recorded steps.
    steps = Steps(model, task, arm, optimizer, settings, run.alive)
    saved = time.monotonic()
    for epoch in range(len(run.history), epochs):
        if not run.alive.any():  # nobody is left who could learn
            break
        began = time.monotonic()
        arm.begin_epoch((epoch + 1) / epochs)
        f, norm, clipped = _epoch(steps, task, settings, epoch, lr, epochs)
        held_out = _validate(steps, task)
        run.alive &= (arm.watched(held_out, epoch) < settings.diverged_above).all(1)
        log = arm.end_epoch(f, held_out)
        if epoch >= arm.warmup_epochs:  # before, nothing is enforced
            _select(model, run, arm.worst(held_out), held_out[:, -1], selection, tolerance, epoch + 1)
        log |= {"loss_train": f, "loss_validation": held_out, "grad_norm": norm, "clipped": clipped}
        log["alive"] = run.alive.clone()
        kept = {name: value.cpu() for name, value in log.items()}  # with which a GPU has done the epoch
        run.history.append(kept | {"seconds": torch.tensor(time.monotonic() - began)})
        progress(epoch + 1, f)
        if epoch + 1 < epochs and time.monotonic() - saved >= settings.checkpoint_seconds:
            checkpoint.save(parts, run)
            saved = time.monotonic()
    return run


def _epoch(
    steps: Steps, task: Task, settings: Training, epoch: int, lr: float, epochs: int
) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"], Float[Tensor, " cells"]]:
    """One pass of primal (and dual) steps.

    Returns:
        The means of layer losses and gradient norms over the steps, and in which share of them a cell's gradient
        was clipped.
    """
    total, norms, clipped = 0.0, 0.0, 0.0
    draw = partial(task.batch, epoch)
    for step, batch in enumerate(drawn_in_turn(draw, task.steps, steps.ahead)):
        # By the step: in stairs the rate would depend on how long an epoch is.
        done = (epoch + step / task.steps) / epochs
        f, norm = steps.learn(batch, epoch, lr * rate(settings, done, 1 / (task.steps * epochs)))
        total = total + f
        norms = norms + norm
        clipped = clipped + (norm > settings.clip_norm).float()
    return total / task.steps, norms / task.steps, clipped / task.steps


def _validate(steps: Steps, task: Task) -> Float[Tensor, "cells depth"]:
    total, count = 0.0, 0
    for batch, size in task.validation():
        total = total + size * steps.look(batch)
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
