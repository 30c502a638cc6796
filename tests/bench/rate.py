"""make bench: what a stack of cells gains, how much of the device's matrix rate it reaches, and Table 3's hours.

The device's own rate is measured in the same run, as a product of matrices of the size of a stack's largest and in
the precision of its steps. The products of a step are counted by torch's FlopCounterMode: those of f, of its
gradients, and no others.
"""

from collections.abc import Callable
from operator import itemgetter

import torch
from torch.utils.flop_counter import FlopCounterMode

from descent import config
from descent.config import Params
from descent.training.devices import autocast
from tests.bench.hours import table_3
from tests.bench.steps import CELLS, Size, arm, dust, stepper
from tests.bench.table import record
from tests.bench.timing import device, in_every_precision, per_second

SIZE = Size(1024, 7, 32, 20)
SECONDS = {"cpu": 20.0, "cuda": 2.0}  # of one pace: a GPU's steps are thousands of times as short
PLAIN = {"cpu": (False,), "cuda": (False, "graphs")}  # of training.compile, what nothing is compiled for


def work(step: Callable[[], None]) -> int:
    """Floating-point operations of the matrix products of one step."""
    with FlopCounterMode(display=False) as counted:
        step()
    return counted.get_total_flops()


def matrix_rate(size: Size, cells: int, precision: str) -> float:
    """Floating-point operations a second of the product of all sequences of a batch with a dictionary."""
    rows = size.batch * size.tokens
    kind = torch.bfloat16 if precision == "bf16" else torch.float32  # tf32 is a kind of product, no type
    left = torch.randn(cells, rows, size.atoms, device=device(), dtype=kind)
    right = torch.randn(cells, size.atoms, size.atoms, device=device(), dtype=kind)
    with autocast(device(), precision):
        pace = per_second(lambda: torch.bmm(left, right), SECONDS[device().type])
    return 2 * cells * rows * size.atoms**2 * pace


def measured(size: Size, values: Params, how: str | bool, matrices: float) -> dict[str, float]:
    """Of a stack of CELLS constrained DUST cells, on one batch again and again: the steps of its cells a second,
    these over a single run's, and its share of the matrix rate.

    Args:
        how: training.compile of the stack and the single run.
        matrices: the device's `matrix_rate`.
    """

    def run(cells: int, way: str | bool = how) -> Callable[[], None]:
        model = dust(size, cells, shared=False)
        return stepper(model, arm(values, "constrained", size, cells), size, values, cells, way)

    enough = SECONDS[device().type]
    alone, together = per_second(run(1), enough), CELLS * per_second(run(CELLS), enough)
    share = work(run(CELLS, False)) / CELLS * together / matrices
    return {"steps": together, "gain": together / alone, "share": share}


def told(values: Params, how: str | bool, matrices: float) -> float:
    """Print and record what is measured; how many steps of one cell the stack makes a second."""
    found, precision = measured(SIZE, values, how, matrices), values.training.precision
    of = f"{CELLS} constrained DUST cells, {SIZE}, compile: {how or 'none'}"
    print(f"{of}, in {precision}")
    print(f"  {found['gain']:.2f} times the steps of single runs (to reach on a GPU: 5)")
    print(f"  {found['share']:.0%} of the matrix rate (to reach on a GPU: 40 %)", flush=True)
    record("stack / single runs, steps a second", of, found["gain"], "at least 5 on a GPU", device(), precision)
    record("share of the matrix rate", of, found["share"], "at least 0.4 on a GPU", device(), precision)
    return found["steps"]


def main() -> None:
    """Every precision that the device gains by; compiled, which takes minutes, the quickest of them."""
    tried = []
    for own in in_every_precision(config.load()):
        matrices = matrix_rate(SIZE, CELLS, own.training.precision)
        paces = {how: told(own, how, matrices) for how in PLAIN[device().type]}
        best = max(paces, key=paces.__getitem__)
        table_3(own, best)
        tried.append((paces[best], own, matrices))
    plain, own, matrices = max(tried, key=itemgetter(0))
    if device().type == "cuda" and told(own, "both", matrices) > plain:
        table_3(own, "both")  # a kind of stack at a time: the best way alone


if __name__ == "__main__":
    main()
