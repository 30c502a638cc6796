"""make bench: what the constraints cost a step, and what stacks gain over single runs, each measured in one run.

Ratios of times taken in turns, so that whatever else the machine does falls on both sides alike.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import softshrink

from descent import config as params
from descent.arms.constrained import ERM, Constrained
from descent.config import Params
from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.models.ut import UT
from descent.training.loop import primal_dual_step
from descent.training.losses import denoising_losses

PIXELS, CELLS = 256, 10


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


def dust(size: Size, cells: int, shared: bool) -> nn.Module:
    """DUST as the video experiments build it."""
    return DUST(cells, size.layers, dct(PIXELS, size.atoms), shared, lambda codes: softshrink(codes, 0.01), 1.5)


def relu_codes(size: Size, cells: int) -> nn.Module:
    """UT, reading `codes`."""
    return DUST(cells, size.layers, dct(PIXELS, size.atoms), True, torch.relu, 1.5)


def stepper(
    model: nn.Module, arm: ERM | Constrained, size: Size, values: Params, cells: int
) -> Callable[[], None]:
    """A function that makes one training step on a fixed batch."""
    stream = torch.Generator().manual_seed(0)
    clean = torch.rand(1, size.batch, size.tokens, PIXELS, generator=stream)
    noisy = (clean + 0.05 * torch.randn(clean.shape, generator=stream)).repeat(cells, 1, 1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-5, fused=True)
    alive = torch.ones(cells, dtype=torch.bool)

    def losses(net: nn.Module, batch: tuple) -> torch.Tensor:
        return denoising_losses(net, *batch)

    def step() -> None:
        primal_dual_step(model, losses, (noisy, clean), arm, optimizer, values.training, alive, epoch=9)

    return step


def constrained(size: Size, values: Params, cells: int) -> Constrained:
    """The constrained arm past its warm-up."""
    return Constrained((cells, size.layers + 1), 1e-3, values.primal_dual.dust, torch.device("cpu"))


def ratio(
    first: Callable[[], None], second: Callable[[], None], seconds: float = 4.0
) -> tuple[float, float, float]:
    """Median seconds of first and of second, called in turns, and the median of their paired ratios."""
    pairs = []
    first(), second()
    until = time.perf_counter() + seconds
    while len(pairs) < 5 or time.perf_counter() < until:
        marks = [time.perf_counter()]
        for call in (first, second):
            call()
            marks.append(time.perf_counter())
        pairs.append((marks[1] - marks[0], marks[2] - marks[1]))
    ones, twos = torch.tensor(pairs, dtype=torch.float64).T
    return ones.median().item(), twos.median().item(), (ones / twos).median().item()


def main() -> None:
    """Print both tables."""
    values = params.load()
    limit = values.training.stack_elements.cpu
    print("One training step, constrained / unconstrained, same architecture (to stay below: 1.2)")
    for size in SIZES:
        for name, build in {
            "dust, one dictionary a layer": lambda size=size: dust(size, 1, shared=False),
            "dust, one dictionary": lambda size=size: dust(size, 1, shared=True),
            "ut, codes": lambda size=size: relu_codes(size, 1),
            "ut, pixels": lambda size=size: UT(1, size.layers, PIXELS),
        }.items():
            pair = [stepper(build(), arm, size, values, 1) for arm in (constrained(size, values, 1), ERM())]
            one, two, share = ratio(*pair)
            print(f"  {name:<30}{size}  {1e3 * one:8.1f} ms / {1e3 * two:8.1f} ms = {share:.2f}")
    print(f"{CELLS} cells, single runs / stacks as planned for a CPU (to stay above: 1)")
    for size in SIZES:
        width = max(1, limit // (size.batch * size.tokens * size.atoms))
        sizes = [min(width, CELLS - start) for start in range(0, CELLS, width)]
        runs = {
            name: [
                stepper(dust(size, cells, shared=False), constrained(size, values, cells), size, values, cells)
                for cells in group
            ]
            for name, group in (("single", [1] * CELLS), ("stacks", sizes))
        }
        one, two, share = ratio(*(lambda steps=steps: [step() for step in steps] for steps in runs.values()))
        print(f"  stacks of {width:<3}{'':<18}{size}  {1e3 * one:8.1f} ms / {1e3 * two:8.1f} ms = {share:.2f}")


if __name__ == "__main__":
    main()
