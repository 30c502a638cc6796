"""make bench: whether the host keeps a GPU fed where every cell of a stack has a seed, and so batches, of its own.

A stack's step on fresh batches, gathered and noisy as the loop has them, over its step on one batch again and
again. On a CPU, where what draws also computes, it says what drawing costs.
"""

import tempfile
from pathlib import Path

from descent import config
from descent.cells import Cell
from descent.config import Params
from descent.costs.data import standin
from descent.tasks.video.feed import feed
from tests.bench.steps import CELLS, Fed
from tests.bench.table import record
from tests.bench.timing import device, in_precision, per_second

DATASET, MODEL, ARM, LAYERS, EPS = "ucsd", "dust", "constrained", 7, 0.13
HOW = {"cpu": False, "cuda": "graphs"}  # of training.compile
SECONDS = {"cpu": 5.0, "cuda": 1.0}  # of one pace


def fed_over_alone(values: Params, cells: int, folder: Path) -> float:
    """Of the profile `paper`, for so many cells of as many seeds."""
    paper = values.model_copy(update={"profile": "paper"})
    made = feed(paper, standin(paper, DATASET, MODEL, folder), MODEL, device())
    stack = [Cell("video", DATASET, MODEL, ARM, LAYERS, EPS, seed) for seed in range(cells)]
    fed = Fed(made, paper, stack, HOW[device().type])
    batch = made.task(stack).batch(0, 0)
    enough = SECONDS[device().type]  # not in turns, in which batches would be drawn during the other's step
    alone = per_second(lambda: fed.steps.learn(batch, epoch=9, lr=1e-5), enough)
    return alone / per_second(fed.step, enough)


def main() -> None:
    """In the precision of params.yaml, and in bf16, whose steps are the shortest, on a GPU."""
    values = config.load()
    quickest = {"cpu": values.training.precision, "cuda": "bf16"}[device().type]
    values = in_precision(values, quickest)
    cells = {"cpu": 2, "cuda": CELLS}[device().type]
    with tempfile.TemporaryDirectory() as folder:
        share = fed_over_alone(values, cells, Path(folder))
    of = f"{cells} constrained DUST cells of as many seeds, profile paper, L={LAYERS}"
    print(f"One step of {of}, in {quickest}: fed with fresh batches / on one batch = {share:.2f} (at most 1.10)")
    record("step on fresh batches / on one", of, share, "at most 1.10", device(), quickest)


if __name__ == "__main__":
    main()
