"""The one training loop: a stack of cells, any model, any task, any arm."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.errors import UserError
from descent.training.arm import Base
from descent.training.drawing import drawn_in_turn
from descent.training.schema import ADAM, Optimizer, Training
from descent.training.step import Learnt, Steps, optimizer_of, rate


@runtime_checkable
class Task(Learnt, Protocol):
    """What a stack learns: batches that are a function of (epoch, step), and one loss per cell and layer.

    `steps` are those of a pass over the data. Its epochs are passes; where the loop cuts a pass (`Course.parts`)
    the loop's own are parts of one.
    """

    steps: int

    def batch(self, epoch: int, step: int) -> Any:
        """One training batch for all cells."""

    def validation(self) -> Iterable[tuple[Any, int]]:
        """The validation batches, the same in every epoch, with their sizes."""


@runtime_checkable
class Checkpoint(Protocol):
    """Where the newest state of a stack is kept; a resumed run equals an uninterrupted one."""

    def restore(self, pieces: dict[str, Any], run: "Run", device: torch.device) -> None:
        """Load the newest state into pieces (model, optimizer, arm) and run; do nothing where there is none."""

    def save(self, pieces: dict[str, Any], run: "Run") -> None:
        """Keep their state, whole or not at all."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How long and how a stack trains, and which of its weights it reports.

    Attributes:
        passes: how often it goes through its data.
        parts: how many epochs a pass is cut in, as equal as whole steps allow: the same steps, looked at more
            often.
        selection: which epoch's weights a cell reports: `feasible` (best validation f_L among epochs whose worst
            relative violation is within `tolerance`, else the least violation), `best`, or `final`.
        primal: what steps the weights.
    """

    passes: int
    parts: int = 1
    selection: str
    tolerance: float
    training: Training
    primal: Optimizer = ADAM

    @property
    def epochs(self) -> int:
        """After each the stack is validated; arms, warm-ups and histories count by them."""
        return self.passes * self.parts

    def span(self, epoch: int, steps: int) -> range:
        """The steps of an epoch, of so many a pass, counted from the training's first.

        Raises:
            UserError: a pass has fewer steps than parts.
        """
        if self.parts > steps:
            raise UserError(
                f"a pass of {steps} batches cannot be cut in parts: {self.parts}: in the model's budget in "
                f"params.yaml set parts to {steps} at most"
            )
        done, part = divmod(epoch, self.parts)
        begin, end = (number * steps // self.parts for number in (part, part + 1))
        return range(done * steps + begin, done * steps + end)

    def share(self, number: int, steps: int) -> float:
        """Of the training, how much is done after this number of steps, of so many a pass."""
        done, step = divmod(number, steps)
        return (done + step / steps) / self.passes  # rounded as it was before there were parts


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
    course: Course,
    lr: float,
    checkpoint: Checkpoint,
    progress: Callable[[int, Tensor], None],
) -> Run:
    """Train a stack to the end, from its checkpoint where there is one.

    Args:
        model: `states` and `readout`, every parameter with a leading cells axis.
        arm: what is minimised and what follows each step; the arms differ in nothing else.
        checkpoint: where the newest state of this stack is kept, at epoch ends `checkpoint_seconds` apart.
        progress: told after each epoch how many are done, and f of the epoch.

    Raises:
        UserError: a pass has fewer steps than parts, or an optimiser that does not take such weights.

    Returns:
        For each cell the reported weights and epoch, the history of every epoch, and whether it is alive:
        a cell of which a loss that its arm watches is NaN or above `diverged_above` is frozen, the others go on;
        where none is left the stack ends.
    """
    settings = course.training
    device = next(model.parameters()).device
    cells = next(model.parameters()).shape[0]
    optimizer = optimizer_of(course.primal, model.parameters(), lr, settings.betas)
    run = Run(
        alive=torch.ones(cells, dtype=torch.bool, device=device),
        missed=torch.full((cells,), torch.inf, device=device),
        score=torch.full((cells,), torch.inf, device=device),
        epoch=torch.zeros(cells, dtype=torch.int64),
        weights={name: value.detach().clone() for name, value in model.state_dict().items()},
    )
    pieces = {"model": model, "optimizer": optimizer, "arm": arm}
    checkpoint.restore(pieces, run, device)
    # Behind the checkpoint, which knows nothing of compiled or recorded steps.
    steps = Steps(model, task, arm, optimizer, settings, run.alive)
    saved = time.monotonic()
    for epoch in range(len(run.history), course.epochs):
        if not run.alive.any():  # nobody is left who could learn
            break
        began = time.monotonic()
        arm.begin_epoch(course.share(course.span(epoch, task.steps).stop, task.steps))
        f, norm, clipped = _epoch(steps, task, course, epoch, lr)
        held_out = _validate(steps, task)
        run.alive &= (arm.watched(held_out, epoch) < settings.diverged_above).all(1)
        log = arm.end_epoch(f, held_out)
        if epoch >= arm.warmup_epochs:  # before, nothing is enforced
            _select(model, run, arm.worst(held_out), held_out[:, -1], course, epoch + 1)
        log |= {"loss_train": f, "loss_validation": held_out, "grad_norm": norm, "clipped": clipped}
        log["alive"] = run.alive.clone()
        kept = {name: value.cpu() for name, value in log.items()}  # with which a GPU has done the epoch
        run.history.append(kept | {"seconds": torch.tensor(time.monotonic() - began)})
        progress(epoch + 1, f)
        if epoch + 1 < course.epochs and time.monotonic() - saved >= settings.checkpoint_seconds:
            checkpoint.save(pieces, run)
            saved = time.monotonic()
    return run


def _epoch(
    steps: Steps, task: Task, course: Course, epoch: int, lr: float
) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"], Float[Tensor, " cells"]]:
    """One pass of primal (and dual) steps, or the part of one that an epoch is.

    Returns:
        The means of layer losses and gradient norms over the steps, and in which share of them a cell's gradient
        was clipped.
    """
    total, norms, clipped = 0.0, 0.0, 0.0
    settings, span = course.training, course.span(epoch, task.steps)
    one = course.share(1, task.steps)
    drawn = drawn_in_turn(lambda step: task.batch(*divmod(span[step], task.steps)), len(span), steps.ahead)
    for number, batch in zip(span, drawn, strict=True):
        # By the step: in stairs the rate would depend on how long an epoch is.
        f, norm = steps.learn(batch, epoch, lr * rate(settings, course.share(number, task.steps), one))
        total = total + f
        norms = norms + norm
        clipped = clipped + (norm > settings.clip_norm).float()
    return total / len(span), norms / len(span), clipped / len(span)


def _validate(steps: Steps, task: Task) -> Float[Tensor, "cells depth"]:
    total, count = 0.0, 0
    for batch, size in task.validation():
        total = total + size * steps.look(batch)
        count += size
    return total / count


def _select(model: nn.Module, run: Run, worst: Tensor, last: Tensor, course: Course, epoch: int) -> None:
    """Keep this epoch's weights for the cells that it improves: a smaller miss first, then a smaller loss."""
    # What was never kept stays at infinity, so that the first epoch with a finite loss is better.
    missed = (worst - course.tolerance).clamp(min=0) if course.selection == "feasible" else torch.zeros_like(worst)
    better = (missed < run.missed) | ((missed == run.missed) & (last < run.score)) | (course.selection == "final")
    better &= run.alive & last.isfinite()
    run.missed = torch.where(better, missed, run.missed)
    run.score = torch.where(better, last, run.score)
    run.epoch[better.cpu()] = epoch
    for name, value in model.state_dict().items():
        run.weights[name][better] = value[better]
