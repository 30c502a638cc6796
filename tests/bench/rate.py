"""make bench: how much of the device's matrix rate a stack of cells reaches, and what Table 3's grid would take.

The device's own rate is measured in the same run, as a product of matrices of the size of a stack's largest and in
the precision of its steps. The products of a step are counted by torch's FlopCounterMode: those of f, of its
gradients, and no others.
"""

import time
from collections.abc import Callable
from operator import itemgetter

import torch
from torch.utils.flop_counter import FlopCounterMode

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.training.devices import autocast
from tests.bench.steps import CELLS, WARMING, Size, arm, clock, device, dust, in_every_precision, stepper
from tests.bench.table import record

SIZE = Size(1024, 7, 32, 20)
MODELS = ("ut", "dust")
SECONDS = {"cpu": 20.0, "cuda": 3.0}  # of one pace: a GPU's steps are thousands of times as short
COMPILED = {"cpu": (), "cuda": ("kernels", "graphs")}  # of training.compile, beside none


def work(step: Callable[[], None]) -> int:
    """Floating-point operations of the matrix products of one step."""
    with FlopCounterMode(display=False) as counted:
        step()
    return counted.get_total_flops()


def per_second(call: Callable[[], None]) -> float:
    """How often `call` is done in a second, after some that are not counted."""
    for _ in range(WARMING):
        call()
    took = _took(call, 1)
    times = max(1, int(SECONDS[device().type] / max(took, 1e-6)))
    return times / _took(call, times)


def _took(call: Callable[[], None], times: int) -> float:
    """Seconds by the clock on the wall: what two cores do at once counts once."""
    clock()  # a GPU does what it was told before
    began = time.perf_counter()
    for _ in range(times):
        call()
    clock()
    return time.perf_counter() - began


def matrix_rate(size: Size, cells: int, precision: str) -> float:
    """Floating-point operations a second of the product of all sequences of a batch with a dictionary."""
    rows = size.batch * size.tokens
    kind = torch.bfloat16 if precision == "bf16" else torch.float32  # tf32 is a kind of product, no type
    left = torch.randn(cells, rows, size.atoms, device=device(), dtype=kind)
    right = torch.randn(cells, size.atoms, size.atoms, device=device(), dtype=kind)
    with autocast(device(), precision):
        return 2 * cells * rows * size.atoms**2 * per_second(lambda: torch.bmm(left, right))


def steps_of_grid(values: Params) -> int:
    """Training steps of all cells of UT and DUST in the profile `paper`, each cell for itself."""
    paper = values.model_copy(update={"profile": "paper", "arms": ["constrained", "unconstrained"]})
    total = 0
    for model in MODELS:
        budget = paper.model_budget(model)
        inputs = budget["epoch_inputs"] or 0
        cells = sum(len(grid(paper, "video", dataset, model)) for dataset in paper.video.datasets)
        total += cells * budget["epochs"] * (inputs // budget["batch"])
    return total


def measured(size: Size, values: Params, how: str | bool, matrices: float) -> dict[str, float]:
    """Of a stack of CELLS constrained DUST cells: the steps of its cells a second, these over a single run's, its
    share of the matrix rate, and the hours that Table 3's UT and DUST would take at its pace.

    Args:
        how: training.compile of the stack and the single run.
        matrices: the device's `matrix_rate`.
    """

    def run(cells: int, way: str | bool = how) -> Callable[[], None]:
        model = dust(size, cells, shared=False)
        return stepper(model, arm(values, "constrained", size, cells), size, values, cells, way)

    alone, together = per_second(run(1)), CELLS * per_second(run(CELLS))
    share = work(run(CELLS, False)) / CELLS * together / matrices
    hours = steps_of_grid(values) / together / 3600
    return {"steps": together, "gain": together / alone, "share": share, "hours": hours}


def told(values: Params, how: str | bool, matrices: float) -> float:
    """Print and record the three numbers; how many steps of one cell the stack makes a second."""
    found, precision = measured(SIZE, values, how, matrices), values.training.precision
    of = f"{CELLS} constrained DUST cells, {SIZE}, compile: {how or 'none'}"
    print(f"{of}, in {precision}")
    print(f"  {found['gain']:.2f} times the steps of single runs (to reach on a GPU: 5)")
    print(f"  {found['share']:.0%} of the matrix rate (to reach on a GPU: 40 %)")
    print(f"  Table 3's UT and DUST at this pace: {found['hours']:.2g} h (to reach on one H200: 0.5)", flush=True)
    record("stack / single runs, steps a second", of, found["gain"], "at least 5 on a GPU", device(), precision)
    record("share of the matrix rate", of, found["share"], "at least 0.4 on a GPU", device(), precision)
    pace = f"at the pace of {of}"
    record("hours of Table 3's UT and DUST", pace, found["hours"], "0.5 on one H200", device(), precision)
    return found["steps"]


def main() -> None:
    """Every precision that the device gains by; compiled, which takes minutes, the quickest of them."""
    tried = []
    for own in in_every_precision(config.load()):
        matrices = matrix_rate(SIZE, CELLS, own.training.precision)
        tried.append((told(own, False, matrices), own, matrices))
    _, own, matrices = max(tried, key=itemgetter(0))
    for how in COMPILED[device().type]:
        told(own, how, matrices)


if __name__ == "__main__":
    main()
