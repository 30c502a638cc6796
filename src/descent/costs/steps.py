"""What a training step of a stack of cells takes: a few are timed on batches of the right shape."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.runner.items import Feed
from descent.training.arm import Setting
from descent.training.devices import UNRECORDED
from descent.training.loop import Task
from descent.training.step import Steps, optimizer_of, primal_dual_step

REPEATS = 3  # timed steps, after one that is not (on a GPU UNRECORDED + 1),
PATIENCE = 0.5  # or as many as take so many seconds
LOOKED_AT = 64  # batches, of which the one of mean size is timed


@dataclass(frozen=True)
class Step:
    """What one step of a stack takes; numbers that a sum of parts or a multiple can be made of."""

    seconds: float | int  # of a training step
    forward: float | int  # seconds of the layers' losses of one batch, without gradient
    weights: float | int  # bytes of what trains
    moments: float | int  # bytes that its optimizer keeps
    frozen: float | int  # bytes of what does not
    held: float | int  # bytes that a forward keeps for its backward

    def __add__(self, other: "Step") -> "Step":
        return Step(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def __mul__(self, factor: float | int) -> "Step":
        return Step(*(factor * value for value in vars(self).values()))


def kind(params: Params, cell: Cell, setting: Setting) -> tuple[object, ...]:
    """What cells have in common whose steps take equally long: all but seeds, noise levels, rates and what else is
    a number of the arm's."""
    values = [(name, value) for name, value in setting.values.model_dump().items() if type(value) is not float]
    return cell.model, cell.arm, cell.layers, repr((params.model_settings(cell.model, cell.arm), values))


def timed(feed: Feed, stack: Sequence[Cell], settings: Sequence[Setting]) -> Step:
    """Time a stack as it would train uncompiled: the fastest of up to three on one batch, past its arm's warm-up.

    On a CPU with one thread seconds are the processor's, which what else runs there does not lengthen. A GPU's
    steps are replayed where its training would have them so, and their batch is there, as others are drawn beside.
    """
    net = feed.build(stack).to(feed.device)
    task = feed.task(stack)
    device = feed.device
    arm = load("arms", settings[0].arm).Arm([one.values for one in settings], stack[0].layers, device)
    optimizer = optimizer_of(feed.primal, net.parameters(), settings[0].lr, feed.training.betas)
    alive = torch.ones(len(stack), dtype=torch.bool, device=device)
    number = typical(feed, task)
    given = task.batch(0, number)
    kept = _Kept()
    primal_dual_step(
        net, kept.watching(task.losses), given, arm, optimizer, feed.training, alive, arm.warmup_epochs
    )
    plain = feed.training.model_copy(update={"compile": "auto" if feed.training.compile else False})
    repeats = getattr(optimizer, "period", 1)
    steps, gpu = Steps(net, task, arm, optimizer, plain, alive), device.type == "cuda"

    def step() -> None:
        for _ in range(repeats):
            steps.learn(given if gpu else task.batch(0, number), arm.warmup_epochs, settings[0].lr)

    def forward() -> None:
        steps.look(given if gpu else task.batch(0, number))

    for _ in range((UNRECORDED + 1) * gpu):  # the last of which is the recording
        step()
        forward()
    trained = sum(value.nbytes for value in net.parameters())
    return Step(
        seconds=_fastest(step, device) / repeats,
        forward=_fastest(forward, device),
        weights=trained,
        moments=sum(
            value.nbytes for own in optimizer.state.values() for value in own.values() if torch.is_tensor(value)
        ),
        frozen=sum(value.nbytes for value in net.buffers()),
        held=kept.total,
    )


def typical(feed: Feed, task: Task) -> int:
    """Which batch of epoch 0, of the first 64, has nearest to the mean of their numbers of elements.

    Of inputs that are all of one length it is the first.
    """
    if not feed.seeds_apart:
        return 0
    sizes = [task.batch(0, step)[0].numel() for step in range(min(task.steps, LOOKED_AT))]
    mean = sum(sizes) / len(sizes)
    return min(range(len(sizes)), key=lambda step: abs(sizes[step] - mean))


class _Kept:
    """Bytes of the tensors that autograd keeps, each storage once."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}

    def watching(self, losses: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def watched(*inputs: Any) -> Tensor:
            with torch.autograd.graph.saved_tensors_hooks(self._note, lambda kept: kept):
                return losses(*inputs)

        return watched

    def _note(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        self.sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def _fastest(call: Callable[[], None], device: torch.device) -> float:
    alone = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    found: list[float] = []
    while len(found) < REPEATS and sum(found) < PATIENCE:
        began = clock()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        found.append(clock() - began)
    return min(found)
