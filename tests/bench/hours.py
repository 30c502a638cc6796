"""How long Table 3's UT and DUST would take, from some steps of every kind of stack that the pipeline plans.

A kind is a model, an arm, a depth and how many cells. Each trains on fresh batches, gathered and noisy as the loop
has them, and looks at held-out ones; black frames stand in for the data. Stacks are counted one after another, as
replayed ones gain nothing where they share a GPU (`gpu_share`).
"""

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from descent.cells import Cell, grid
from descent.config import Params
from descent.costs.data import standin
from descent.runner.items import Feed, Item, once
from descent.tasks.common.items import setting
from descent.tasks.video.feed import feed
from tests.bench.steps import PAIR, Fed
from tests.bench.table import record
from tests.bench.timing import device, per_second

MODELS = ("ut", "dust")
SECONDS = {"cpu": 3.0, "cuda": 0.4}  # of one pace: there are two of each kind, and twelve kinds
Planned = tuple[Feed, list[list[Cell]]]


def table_3(values: Params, how: str | bool) -> None:
    """Print and record the hours.

    Args:
        how: training.compile of every stack.
    """
    paper = values.model_copy(update={"profile": "paper", "arms": [*PAIR]})
    with tempfile.TemporaryDirectory() as folder:
        work = [*planned(paper, Path(folder))]
        found = seconds(paper, work, how) / 3600
    sizes = sorted({len(stack) for _, stacks in work for stack in stacks})
    of = f"{sum(len(stacks) for _, stacks in work)} stacks of {' or '.join(map(str, sizes))}, one after another"
    of, precision = f"{of}, with validation, compile: {how or 'none'}", values.training.precision
    print(f"Table 3's UT and DUST, {of}, in {precision}: {found:.2g} h (to reach on one H200: 0.5)", flush=True)
    record("hours of Table 3's UT and DUST", of, found, "at most 0.5 on one H200", device(), precision)


def planned(paper: Params, folder: Path) -> Iterator[Planned]:
    """Of every data set and model how its cells are fed, and its stacks as a training stage plans them here."""
    for dataset, model in product(paper.video.datasets, MODELS):
        place = folder / f"{dataset}-{model}"
        place.mkdir()
        made = feed(paper, standin(paper, dataset, model, place), model, device())
        settings = {cell: setting(paper, cell) for cell in grid(paper, "video", dataset, model)}
        item = Item(place.name, place, [*settings], settings, made, partial(once, settings))
        yield made, item.stacks(item.cells, settings, made.elements)


def seconds(paper: Params, work: Sequence[Planned], how: str | bool) -> float:
    """What all stacks take, each kind timed on the first data set that has it."""
    known: dict[tuple, tuple[float, float]] = {}
    total = 0.0
    for made, stacks in work:
        task = made.task(stacks[0])
        held_out = len([*task.validation()])
        for stack in stacks:
            kind = (stack[0].model, stack[0].arm, stack[0].layers, len(stack))
            if kind not in known:
                known[kind] = paces(made, paper, stack, how)
            step, look = known[kind]
            total += made.passes * task.steps * step + made.epochs * held_out * look
    return total


def paces(made: Feed, paper: Params, stack: Sequence[Cell], how: str | bool) -> tuple[float, float]:
    """Seconds of a stack's training step, and of its losses of a held-out batch."""
    fed, enough = Fed(made, paper, stack, how), SECONDS[device().type]
    return 1 / per_second(fed.step, enough), 1 / per_second(fed.look, enough)
