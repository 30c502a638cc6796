"""One step of a stack on one batch, plain or as a graph that a GPU replays."""

import math
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.training.arm import Base
from descent.training.devices import Recorded, autocast
from descent.training.schema import Optimizer, Training


@runtime_checkable
class Learnt(Protocol):
    """What steps ask of a task: one loss per cell and layer."""

    recordable: bool  # whether its losses are the same kernels at each step and draw nothing on the device

    def losses(self, model: nn.Module, batch: Any) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L of every cell."""

    def compile(self, how: str) -> None:
        """Compile (training.compile) the losses less the noise; a model's dropout is the compiler's own then."""


class Steps:
    """What a stack does with one batch after another: learn from it, or look at its losses.

    As training.compile says: with `auto` or `graphs` a GPU replays a whole step in one launch, with `kernels` the
    losses are compiled, with `both` a step of compiled losses is replayed. Where arm, task or optimizer are not
    recordable `auto` does nothing, and `graphs` and `both` are the compiler's own graphs, of the losses.
    """

    def __init__(
        self,
        model: nn.Module,
        task: Learnt,
        arm: Base,
        optimizer: torch.optim.Optimizer,
        settings: Training,
        alive: Bool[Tensor, " cells"],
    ) -> None:
        self.optimizer, self.warmup_epochs = optimizer, arm.warmup_epochs
        self.ahead = alive.is_cuda  # whether the next batches are drawn while the host launches this one's step

        def learn(batch: Any, epoch: int) -> tuple[Tensor, Tensor]:
            return primal_dual_step(model, task.losses, batch, arm, optimizer, settings, alive, epoch)

        def look(batch: Any) -> Tensor:
            return again(model, task.losses, batch, settings)

        self._learn, self._look = learn, look
        how, alike = settings.compile, task.recordable and arm.recordable and getattr(optimizer, "period", 1) == 1
        self.recorded = how in ("auto", "graphs", "both") and alive.is_cuda and alike
        if how in ("graphs", "both") and not self.recorded:
            task.compile("graphs")
        elif how in ("kernels", "both"):
            task.compile("kernels")
        if self.recorded:
            torch.cuda.set_device(alive.device)  # streams and recordings are of the one in use
            for group in (group for one in (optimizer, *arm.optimizers) for group in one.param_groups):
                group["capturable"] = True
            for group in optimizer.param_groups:  # a number would be the recorded step's for ever
                group["lr"] = torch.zeros((), device=alive.device)
            self._learn, self._look = Recorded(learn), Recorded(look)

    def learn(
        self, batch: Any, epoch: int, lr: float
    ) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"]]:
        """One primal (and dual) step at this rate of the weights; f and the norms of the gradients. The next step
        may overwrite both."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(lr)
            else:
                group["lr"] = lr
        if self.recorded:  # of the epoch it knows whether it is one of the warm-up
            epoch = 0 if epoch < self.warmup_epochs else self.warmup_epochs
        return self._learn(batch, epoch)

    def look(self, batch: Any) -> Float[Tensor, "cells depth"]:
        """The losses of a held-out batch, which the next look may overwrite."""
        return self._look(batch)


def optimizer_of(
    primal: Optimizer, parameters: Iterable[nn.Parameter], lr: float, betas: Sequence[float]
) -> torch.optim.Optimizer:
    """What steps the weights of a stack.

    Args:
        parameters: with a leading cells axis.
        betas: the two rates of its running means, of the gradient and of its squares.

    Raises:
        UserError: an optimizer that is not for these parameters.
    """
    kind = import_module(f"descent.training.optimizers.{primal.kind}")
    return kind.made(parameters, lr, tuple(betas), primal.weight_decay)


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
    alive &= (arm.watched(f.detach(), epoch) < settings.diverged_above).all(1)  # false for NaN too
    optimizer.zero_grad()
    # No cell has another's weights in its loss, so that of the sum each gets its own gradient; and a lost cell's
    # loss is left out, not multiplied by zero, which leaves a NaN what it is.
    torch.where(alive, arm.objective(f, epoch), 0.0).sum().backward()
    norm = clip(list(model.parameters()), settings.clip_norm, alive)
    if alive.device.type != "cpu" or not alive.all():  # a GPU is not asked: its host would wait for the answer
        _freeze(optimizer, alive)
    optimizer.step()
    arm.update(lambda: again(model, losses, batch, settings), alive, epoch)
    return f.detach(), norm


def rate(settings: Training, done: float, step: float = 0.0) -> float:
    """The share of the learning rate in force after this share of the steps: a linear rise, then the schedule.

    Args:
        step: the share of one step, by which the rise is ahead: a step without any rate would still move duals.
    """
    if done < settings.warmup:
        return min(1.0, (done + step) / settings.warmup)
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
    """Without gradient and without momentum nothing moves but by weight decay, and the reported weights are
    copies."""
    for state in optimizer.state.values():
        momentum = state["exp_avg"]
        momentum.masked_fill_(~alive.view((-1,) + (1,) * (momentum.dim() - 1)), 0)


@torch.no_grad()
def again(
    model: nn.Module, losses: Callable[[nn.Module, Any], Tensor], batch: Any, settings: Training
) -> Float[Tensor, "cells depth"]:
    """The losses of a batch, without gradients."""
    with autocast(next(model.parameters()).device, settings.precision):
        return losses(model, batch)
