"""Which cells train together, and a stack from its checkpoint to its cells in the store."""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import pandas as pd
import torch

from descent.cells import WHY, Cell
from descent.errors import UserError
from descent.io.failures import reason
from descent.runner import store
from descent.runner.checkpoints import FileCheckpoint
from descent.training.arm import Setting
from descent.training.loop import Run, Task
from descent.training.schema import Training
from descent.training.stack import Recipe, train_stack

TICKS = 100  # of an epoch, in which progress is told


def unfinished(names: dict[Cell, str], missing: Sequence[Cell], most: int) -> list[list[Cell]]:
    """The stacks of these cells that an earlier run began and did not finish, with the same cells in them.

    Cells round alike only in the same company, and a stack's checkpoint serves no other. Each missing cell
    belongs to one stack: runs interrupted at different grids may have left several with it. A stack of more than
    `most` cells is not gone on with: it may be what did not fit, before somebody lowered the limit.
    """
    cell_of = {name: cell for cell, name in names.items()}
    wanted = set(missing)
    taken = set()
    stacks = []
    for stack in sorted(store.open_stacks(), key=len, reverse=True):
        cells = [cell_of[name] for name in stack if name in cell_of]
        if len(cells) == len(stack) and all(map(store.has, stack)):
            store.close_stack(stack)  # it was killed before it could do this
        elif len(cells) == len(stack) <= most and wanted.intersection(cells) and not taken.intersection(cells):
            stacks.append(cells)
            taken.update(cells)
    return stacks


def room(elements: int, limit: int) -> int:
    """How many cells a stack may have, each of so many numbers in one state."""
    return max(1, limit // elements)


def plan(
    cells: Sequence[Cell], settings: dict[Cell, Setting], elements: int, limit: int, seeds_apart: bool = False
) -> list[list[Cell]]:
    """Cells that can share their batches and their optimizer, as many as keep one state below `limit` numbers.

    A GPU wants large stacks; a CPU small ones, since a stack that falls out of cache is slower than its cells
    one by one (`make bench`). The longest come first, so that no core is left with one at the end.

    Args:
        elements: numbers in one state of one cell, batch * tokens * width.
        seeds_apart: no stack has cells of two seeds, since their batches differ in shape.
    """
    size = room(elements, limit)
    alike: dict[tuple, list[Cell]] = {}
    for cell in cells:
        key = (cell.layers, settings[cell].alike(), cell.seed if seeds_apart else None)
        alike.setdefault(key, []).append(cell)
    stacks = [group[start : start + size] for group in alike.values() for start in range(0, len(group), size)]
    return sorted(stacks, key=lambda stack: -stack[0].layers * len(stack))


def work(
    fingerprints: dict[Cell, str],
    recipe: Recipe,
    settings: dict[Cell, Setting],
    stack: Sequence[Cell],
    progress: Callable[..., None],
) -> None:
    """Train the cells of a stack together and publish them together; resume from the stack's checkpoint.

    Args:
        progress: told how much was done since it was told last, in cell epochs / TICKS; with True behind it, of
            what was done before this run.

    Raises:
        UserError: the stack does not fit the GPU's memory.
    """
    names = [fingerprints[cell] for cell in stack]
    path = store.open_stack(names)
    label = f"a stack of {stack[0].dataset}-{stack[0].model}"
    with store.file_lock(path.stem, label):  # items that share cells may run at the same time
        if all(map(store.has, names)):
            progress(recipe.epochs * TICKS * len(stack), True)
        else:
            _train(names, recipe, [settings[cell] for cell in stack], stack, FileCheckpoint(path), progress)
        store.close_stack(names)


def _train(
    names: Sequence[str],
    recipe: Recipe,
    settings: Sequence[Setting],
    stack: Sequence[Cell],
    checkpoint: FileCheckpoint,
    progress: Callable[..., None],
) -> None:
    begun, done, one_at_a_time = False, 0, Lock()

    def tell(ticks: int) -> None:
        nonlocal begun, done
        with one_at_a_time:  # batches may be asked for on several threads
            if ticks > done and not begun:  # where it begins: an earlier run has done these
                progress(ticks * len(stack), True)
            elif ticks > done:
                progress((ticks - done) * len(stack))
            begun, done = True, max(done, ticks)

    def after_epoch(epoch: int, f: torch.Tensor) -> None:
        tell(epoch * TICKS)

    within = replace(recipe, task=lambda cells: Told(recipe.task(cells), recipe.parts, tell))
    try:
        run = train_stack(within, stack, settings, checkpoint, after_epoch)
    except torch.OutOfMemoryError as error:
        raise UserError(_too_large(stack, recipe.training, error)) from None
    tell(recipe.epochs * TICKS)  # of a stack that has lost all its cells the rest is not done
    seconds = sum(float(log["seconds"]) for log in run.history)  # of the stack, however early a cell was lost
    for index, cell in enumerate(stack):
        log = history(run, index)
        record = {
            "cell": {key: value for key, value in vars(cell).items() if key not in WHY},
            "fingerprint": names[index],
            "epoch": int(run.epoch[index]),
            "epochs": recipe.epochs,
            "diverged": not bool(run.alive[index]),
            "setting": settings[index].definition(),
            "made_by": _made_by(recipe.device, seconds, len(stack)) | {"began": int(run.began)},
        }
        weights = {name: value[index].cpu() for name, value in run.weights.items()}
        store.publish(names[index], weights, log.to_csv(index=False), record)


class Told:
    """A task that tells, as its batches are asked for, how many TICKS of all epochs are done.

    Args:
        parts: epochs in a pass over the data. Of unequal ones what a resumed run finds done is a few ticks off.
    """

    def __init__(self, task: Task, parts: int, tell: Callable[[int], None]) -> None:
        self.task, self.parts, self.tell = task, parts, tell

    def batch(self, epoch: int, step: int) -> Any:
        """The task's own; for a GPU it is asked for on other threads, some steps ahead."""
        self.tell((epoch * self.task.steps + step) * self.parts * TICKS // self.task.steps)
        return self.task.batch(epoch, step)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)


def _made_by(device: torch.device, seconds: float, cells: int) -> dict[str, Any]:
    """What a cell was trained by, for whoever compares numbers of two machines; the seconds are the stack's."""
    kind = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    own = {"device": f"{device.type} ({kind})", "seconds": round(seconds, 2), "cells_in_stack": cells}
    return versions | own | {"finished": int(time.time())}


def history(run: Run, index: int) -> pd.DataFrame:
    """One row per epoch and layer of one cell; grad_norm and seconds (of the stack) repeat over the layers.

    It ends with the epoch in which the cell was lost: how long its stack went on says nothing of it.
    """
    rows = []
    for epoch, log in enumerate(run.history, start=1):
        columns: dict[str, Any] = {"epoch": epoch, "layer": range(log["loss_train"].shape[1])}
        alive = log["alive"][index]
        for name, value in log.items():
            own = value if value.dim() == 0 else value[index]
            columns[name] = own.tolist()
        rows.append(pd.DataFrame(columns).drop(columns="alive"))
        if not alive:
            break
    return pd.concat(rows, ignore_index=True)


def _too_large(stack: Sequence[Cell], training: Training, error: torch.OutOfMemoryError) -> str:
    first = stack[0]
    return (
        f"the GPU is out of memory training {len(stack)} cells of {first.dataset}-{first.model}-{first.arm}, "
        f"L = {first.layers}, in one stack: lower training.stack_elements.cuda (now "
        f"{training.stack_elements.cuda}) to train fewer cells at once, or the profile's batch. "
        f"({reason(error)})"
    )
