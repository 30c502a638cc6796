"""Which cells train together, and the training of one stack: the unit of work that could go to another device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd
import torch
from torch import nn

from descent.cells import Cell
from descent.errors import UserError
from descent.primal_dual.arms import ERM, Constrained
from descent.schema import LearningRates, PrimalDual, Training
from descent.training import store
from descent.training.loop import Run, Task, train


@dataclass(frozen=True)
class Recipe:
    """How any stack of a matrix item is made and trained; the identity of its cells is not in it."""

    build: Callable[[Sequence[Cell]], nn.Module]
    task: Callable[[Sequence[Cell]], Task]
    problem: PrimalDual | None  # None: unconstrained
    rates: LearningRates
    epochs: int
    report: str
    tolerance: float
    settings: Training
    device: torch.device


def unfinished(names: dict[Cell, str], missing: Sequence[Cell]) -> list[list[Cell]]:
    """The stacks of these cells that an earlier run began and did not finish, with the same cells in them.

    Cells round alike only in the same company, and a stack's checkpoint serves no other. Each missing cell
    belongs to one stack: runs interrupted at different grids may have left several with it.
    """
    cell_of = {name: cell for cell, name in names.items()}
    wanted, taken, stacks = set(missing), set(), []
    for stack in sorted(store.open_stacks(), key=len, reverse=True):
        cells = [cell_of[name] for name in stack if name in cell_of]
        if len(cells) == len(stack) and wanted.intersection(cells) and not taken.intersection(cells):
            stacks.append(cells)
            taken.update(cells)
    return stacks


def plan(cells: Sequence[Cell], elements: int, limit: int) -> list[list[Cell]]:
    """Consecutive cells of one depth, as many as keep one state of the stack below `limit` numbers.

    A GPU wants large stacks; a CPU small ones, since a stack that falls out of cache is slower than its cells
    one by one (`make bench`).

    Args:
        elements: numbers in one state of one cell, batch * tokens * width.
    """
    size = max(1, limit // elements)
    stacks = []
    for _, group in groupby(cells, key=lambda cell: cell.layers):
        depth = list(group)
        stacks += [depth[start : start + size] for start in range(0, len(depth), size)]
    return stacks


def train_stack(
    fingerprints: dict[Cell, str], recipe: Recipe, stack: Sequence[Cell], tell: Callable[[int], None]
) -> None:
    """Train the cells of a stack together and publish them together; resume from the stack's checkpoint.

    Raises:
        UserError: the stack does not fit the GPU's memory.
    """
    names = [fingerprints[cell] for cell in stack]
    checkpoint = store.open_stack(names)
    shape = (len(stack), stack[0].layers + 1)
    arm = (
        ERM()
        if recipe.problem is None
        else Constrained(shape, recipe.rates.dual_lr, recipe.problem, recipe.device)
    )
    done = 0

    def progress(epoch: int, f: torch.Tensor) -> None:
        nonlocal done
        tell((epoch - done) * len(stack))  # a resumed stack reports its first epochs at once
        done = epoch

    try:
        run = train(
            recipe.build(stack).to(recipe.device),
            recipe.task(stack),
            arm,
            recipe.settings,
            epochs=recipe.epochs,
            lr=recipe.rates.lr,
            report=recipe.report,
            tolerance=recipe.tolerance,
            checkpoint=checkpoint,
            progress=progress,
        )
    except torch.OutOfMemoryError as error:
        raise UserError(_too_large(stack, recipe.settings, error)) from None
    for index, cell in enumerate(stack):
        weights = {name: value[index].cpu() for name, value in run.weights.items()}
        record = {
            "cell": vars(cell),
            "fingerprint": fingerprints[cell],
            "epoch": int(run.epoch[index]),
            "diverged": not bool(run.alive[index]),
        }
        store.publish(fingerprints[cell], weights, history(run, index).to_csv(index=False), record)
    store.close_stack(names)


def history(run: Run, index: int) -> pd.DataFrame:
    """One row per epoch and layer of one cell; grad_norm and seconds (of the stack) repeat over the layers."""
    rows = []
    for epoch, log in enumerate(run.history, start=1):
        columns: dict[str, Any] = {"epoch": epoch, "layer": range(log["loss_train"].shape[1])}
        for name, value in log.items():
            own = value if value.dim() == 0 else value[index]
            columns[name] = own.tolist()
        rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def _too_large(stack: Sequence[Cell], settings: Training, error: torch.OutOfMemoryError) -> str:
    first = stack[0]
    return (
        f"the GPU is out of memory training {len(stack)} cells of {first.dataset}-{first.model}-{first.method}, "
        f"L = {first.layers}, in one stack: lower training.stack_elements.cuda (now "
        f"{settings.stack_elements.cuda}) to train fewer cells at once, or the profile's batch. "
        f"({str(error).splitlines()[0]})"
    )
