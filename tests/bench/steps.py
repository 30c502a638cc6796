"""make bench: what constraints, bounded steps and SOAP cost, and what stacks and compiling gain, in one run each.

Ratios of times taken in turns, so that whatever else the machine does falls on both sides alike; on a CPU they are
the process's own seconds, which other processes hardly lengthen. They are of params.yaml's device, and go to
data/bench.csv. Where nothing else is said they are of its training.precision.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle, product
from typing import Any

import torch
from torch import nn
from torch.nn.functional import softshrink

from descent import config
from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.costs.devices import REFERENCE, reference_seconds
from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.models.parts.unrolled import UT
from descent.runner.items import Feed
from descent.tasks.common.items import setting
from descent.tasks.video.losses import denoising_losses
from descent.training.arm import Base
from descent.training.devices import compiled
from descent.training.drawing import drawn_in_turn
from descent.training.loop import Task
from descent.training.optimizers.soap import EVERY
from descent.training.schema import ADAM, Optimizer, Training
from descent.training.step import Steps, optimizer_of
from tests.bench.table import record
from tests.bench.timing import device, in_every_precision, ratio

PAIR = ("constrained", "unconstrained")
PIXELS, CELLS = 256, 10
STEPPED = {"cpu": (False,), "cuda": (False, "graphs")}  # of training.compile, where arms are compared
COMPILED = {"cpu": ("kernels",), "cuda": ("kernels", "graphs", "both")}  # a CPU has no graphs to replay


@dataclass(frozen=True)
class Size:
    """One setting to measure: N atoms, L layers, batch sequences of T tokens."""

    atoms: int
    layers: int
    batch: int
    tokens: int

    def __str__(self) -> str:
        return f"N={self.atoms:<5} L={self.layers}  {self.batch:>2} x {self.tokens:>2} tokens"


SIZES = [Size(256, 3, 16, 5), Size(1024, 5, 32, 20)]


def dust(size: Size, cells: int, shared: bool, current: bool = False) -> nn.Module:
    """DUST as the video experiments build it."""
    options = {"shrink": lambda codes: softshrink(codes, 0.01), "step_scale": 1.5, "current": current}
    return DUST(cells, size.layers, dct(PIXELS, size.atoms), shared, **options)


def relu_codes(size: Size, cells: int) -> nn.Module:
    """UT, reading `codes`."""
    return DUST(cells, size.layers, dct(PIXELS, size.atoms), True, torch.relu, 1.5)


def arm(values: Params, name: str, size: Size, cells: int = 1) -> Base:
    """An arm as the video experiments have it for DUST."""
    cell = Cell("video", "ucsd", "dust", name, size.layers, 0.13, seed=0)
    return load("arms", name).Arm([setting(values, cell).values] * cells, size.layers, device())


class Denoising:
    """The losses of a video task on batches (noisy, clean)."""

    recordable = True

    def __init__(self) -> None:
        self.compute = denoising_losses

    def losses(self, net: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """f_0 ... f_L."""
        return self.compute(net, *batch)

    def compile(self, how: str) -> None:
        """All of it."""
        self.compute = compiled(denoising_losses, how)


def stepper(
    model: nn.Module,
    own: Base,
    size: Size,
    values: Params,
    cells: int,
    how: str | bool = False,
    primal: Optimizer = ADAM,
) -> Callable[[], None]:
    """A function that makes one training step on a fixed batch, with `how` for training.compile."""
    stream = torch.Generator().manual_seed(0)
    clean = torch.rand(1, size.batch, size.tokens, PIXELS, generator=stream)
    noisy = (clean + 0.05 * torch.randn(clean.shape, generator=stream)).repeat(cells, 1, 1, 1)
    model, noisy, clean = model.to(device()), noisy.to(device()), clean.to(device())
    optimizer = optimizer_of(primal, model.parameters(), 1e-5, values.training.betas)
    alive = torch.ones(cells, dtype=torch.bool, device=device())

    steps = Steps(model, Denoising(), own, optimizer, as_asked(values, how), alive)

    def step() -> None:
        steps.learn((noisy, clean), epoch=9, lr=1e-5)

    return step


def as_asked(values: Params, how: str | bool) -> Training:
    """The settings of training with another `compile`."""
    return values.training.model_copy(update={"compile": how})


def drawn(task: Task) -> Iterator[Any]:
    """A task's training batches, epoch after epoch, ahead where the loop draws them so."""
    for epoch in count():
        yield from drawn_in_turn(partial(task.batch, epoch), task.steps, ahead=device().type == "cuda")


class Fed:
    """A stack of cells in training, past any warm-up, on its batches one after another."""

    def __init__(self, feed: Feed, values: Params, stack: Sequence[Cell], how: str | bool = False) -> None:
        asked = [setting(values, cell) for cell in stack]
        self.net, task = feed.build(stack).to(device()), feed.task(stack)
        arm = load("arms", asked[0].arm).Arm([own.values for own in asked], stack[0].layers, device())
        optimizer = optimizer_of(feed.primal, self.net.parameters(), 1e-5, values.training.betas)
        alive = torch.ones(len(stack), dtype=torch.bool, device=device())
        self.steps = Steps(self.net, task, arm, optimizer, as_asked(values, how), alive)
        self.batches, self.held_out = drawn(task), cycle(task.validation())

    def step(self) -> None:
        """One training step on the next batch."""
        self.steps.learn(next(self.batches), epoch=9, lr=1e-5)

    def look(self) -> None:
        """The losses of the next held-out batch, as validation has them."""
        self.steps.look(next(self.held_out)[0])


def constraints(values: Params) -> None:
    """What constraints cost a step of each model."""
    print("One training step, constrained / unconstrained, same architecture (at most 1.10)")
    for size, how in product(SIZES, STEPPED[device().type]):
        for model, build in {
            "dust, one dictionary a layer": lambda size=size: dust(size, 1, shared=False),
            "dust, one dictionary": lambda size=size: dust(size, 1, shared=True),
            "ut, codes": lambda size=size: relu_codes(size, 1),
            "ut, pixels": lambda size=size: UT(1, size.layers, PIXELS),
        }.items():
            pair = [stepper(build(), arm(values, name, size), size, values, 1, how) for name in PAIR]
            told = f"{model}, {size}{f', {how}' if how else ''}"
            compare(values, "constrained step / unconstrained", told, "at most 1.10", *pair)


def bounds(values: Params) -> None:
    """What it costs that steps follow their dictionaries (`step: current`)."""
    print("One constrained step of DUST, a dictionary a layer, its steps bounded / as at the start")
    for size, how in product(SIZES, STEPPED[device().type]):
        models = [dust(size, 1, shared=False, current=current) for current in (True, False)]
        pair = [stepper(model, arm(values, PAIR[0], size), size, values, 1, how) for model in models]
        told = f"DUST, {size}{f', {how}' if how else ''}"
        compare(values, "step of bounded DUST / unbounded", told, "", *pair)


def optimizers(values: Params) -> None:
    """What it costs to step in the eigenbasis of the gradients (`optimizer: soap`)."""
    print("One constrained step of DUST, a dictionary a layer, SOAP's / Adam's")
    for size in SIZES:
        each = [
            stepper(dust(size, 1, shared=False), arm(values, PAIR[0], size), size, values, 1, primal=own)
            for own in (Optimizer(kind="soap", weight_decay=0.0), ADAM)
        ]
        turns = [lambda step=step: [step() for _ in range(EVERY)] for step in each]
        compare(values, f"{EVERY} steps of SOAP / of Adam", f"DUST, {size}", "", *turns)


def stacks(values: Params) -> None:
    """What stacks as wide as those of this device gain."""
    limit = getattr(values.training.stack_elements, device().type)
    print(f"{CELLS} cells, single runs / stacks as planned for this device (to stay above: 1)")
    for size in SIZES:
        width = limit // (size.batch * size.tokens * size.atoms)
        if width <= 1:
            print(f"  {'stacks of 1 are single runs':<30}{size}")
            continue
        pair = []
        for group in ([1] * CELLS, [min(width, CELLS - start) for start in range(0, CELLS, width)]):
            each = [
                stepper(dust(size, cells, shared=False), arm(values, PAIR[0], size, cells), size, values, cells)
                for cells in group
            ]
            pair.append(lambda each=each: [step() for step in each])
        compare(values, "10 single runs / stacks", f"DUST, {size}, stacks of {width}", "at least 1", *pair)


def compiling(values: Params) -> None:
    """What `training.compile` gains, in each of its ways that this device has."""
    print("One constrained step of DUST, as it is / compiled (training.compile)")
    for how, size in product(COMPILED[device().type], SIZES):
        pair = [
            stepper(dust(size, 1, shared=False), arm(values, PAIR[0], size), size, values, 1, one)
            for one in (False, how)
        ]
        compare(values, f"step / compiled step ({how})", f"DUST, {size}", "above 1", *pair)


def compare(values: Params, measure: str, told: str, to_reach: str, *pair: Callable[[], None]) -> None:
    """Measure, print and note a ratio of two in a setting."""
    one, two, share = ratio(*pair)
    print(f"  {measure}: {told:<50}{1e3 * one:8.2f} ms / {1e3 * two:8.2f} ms = {share:.2f}", flush=True)
    record(measure, told, share, to_reach, device(), values.training.precision)


def main() -> None:
    """Print all tables."""
    values = config.load()
    for measure in (constraints, bounds, optimizers, stacks, compiling):
        measure(values)
    print("The step by which devices are compared (make estimate)")
    for own in in_every_precision(values):
        seconds, precision = reference_seconds(own, device()), own.training.precision
        print(f"  {precision}: {seconds:.3g} s")
        record(REFERENCE, "constrained DUST, profile paper, s", seconds, "", device(), precision)


if __name__ == "__main__":
    main()
