"""A trained cell as a model to use: found by its folder, built as params.yaml says, with its own weights."""

from itertools import product
from pathlib import Path

from torch import nn

from descent import paths
from descent.cells import Cell, grid, headline
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.runner import store
from descent.runner.items import Item
from descent.tasks.common import looks
from descent.tasks.common.items import of_model, of_study
from descent.training.arm import Setting


def load(params: Params, folder: Path, task: str | None = None) -> tuple[Cell, nn.Module]:
    """What a cell's folder holds, in evaluation mode on the device in use, as a stack of one cell.

    `net.states(noisy)` gives X_0 ... X_L, each with a leading cells axis of size 1; `net.readout(X)` its output.

    Args:
        folder: data/runs/<task>/<dataset>/<model>/<cell>, or data/runs/study/<name>/<cell>.
        task: the one that the cell must be of; None takes any.

    Raises:
        UserError: no such cell, one of another task, one that diverged, or one that params.yaml would now train
            otherwise.
    """
    item = _item(params, folder)
    cell = next((cell for cell in item.cells if cell.name == folder.name), None)
    if cell is None:
        known = ", ".join(sorted(cell.name for cell in item.cells))
        raise UserError(f"params.yaml asks for no cell {folder.name} in {folder.parent}; it asks for {known}")
    if task not in (None, params.task_of(cell.model)):
        raise UserError(f"{folder} is a cell of {params.task_of(cell.model)}: name one of {task}")
    record = store.record(item.runs, cell)
    setting = item.settings.get(cell) or Setting.recorded(record["setting"])
    store.check(item.runs, cell, item.fingerprint(cell, setting))
    if record["diverged"]:
        raise UserError(f"{folder}: its training diverged, so there is no model to use; name another cell")
    return cell, looks.trained(item, cell)


def default(params: Params, task: str) -> Path:
    """The folder of a trained cell of a task: of `comparison.ours` at the headline level, the deepest of the first
    data set and model that have one.

    Raises:
        UserError: no such cell is trained.
    """
    part = params.section(task)
    for dataset, model in product(part.datasets, part.models):
        cells = grid(params, task, dataset, model)
        ours = [cell for cell in cells if (cell.arm, cell.eps) == (params.comparison.ours, headline(params, task))]
        for cell in sorted(ours, key=lambda cell: -cell.layers):
            folder = paths.runs_folder(task, dataset, model)
            if (folder / cell.name).is_dir() and not store.record(folder, cell)["diverged"]:
                return folder / cell.name
    raise UserError(
        f"no {task} model of the arm {params.comparison.ours} is trained at the headline level: run `make repro` "
        f"with data sets and models in params.yaml's {task} section, or name a cell (CELL=data/runs/...)"
    )


def _item(params: Params, folder: Path) -> Item:
    """The item of which a cell lies in this folder."""
    place = folder.resolve()
    runs = paths.RUNS.resolve()
    match place.relative_to(runs).parts if place.is_relative_to(runs) and place.is_dir() else ():
        case ("study", name, _):
            item = next((own for own in of_study(params, name) if place.name in {c.name for c in own.cells}), None)
        case (task, dataset, model, _) if task in TASKS:
            item = of_model(params, task, dataset, model)
        case _:
            item = None
    if item is None:
        raise UserError(
            f"there is no trained cell {folder}: name a folder such as "
            "data/runs/video/ucsd/dust/constrained-L3-eps0.13-seed0"
        )
    return item
