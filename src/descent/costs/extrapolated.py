"""Steps that are too large to time here: timed small, and grown by a rule that the estimate states."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from descent.cells import Cell
from descent.components import of_task
from descent.config import Params
from descent.costs import shapes
from descent.costs.data import standin
from descent.costs.steps import Step, timed
from descent.tasks.common.items import setting

ROOM = 2048  # width times batch that a CPU is asked to time; a wider model is narrowed to half of it
RULE = (
    "pretrained models are timed with random weights of their shape, at one and two layers and one and two inputs "
    "(narrowed where wider than 1024, products then counting by the square), and grown in proportion"
)


def step(params: Params, shape: dict[str, int], cell: Cell, device: torch.device) -> Step:
    """What a step of a pretrained model's cell takes.

    Of the time at 1 and 2 layers and at b and 2b inputs the plane t = t_0 + t_l L + (t_b + t_lb L) B is taken.
    """
    shrink = -(-shape["width"] // (ROOM // 2)) if device.type == "cpu" else 1
    full = params.model_budget(cell.model)["batch"]
    few = min(full // 2 or 1, max(1, ROOM * shrink // shape["width"])) if device.type == "cpu" else full // 2 or 1

    def at(layers: int, batch: int) -> Step:
        return _small(params, shape, cell, layers, batch, shrink, device)

    many = _line(lambda batch: _line(lambda layers: at(layers, batch), 1, cell.layers), few, full)
    return Step(**vars(many) | {"held": many.held / shrink}) * shrink**2


def _line(measure: Callable[[int], Step], first: int, wanted: int) -> Step:
    """The straight line through the values at `first` and twice as much, at `wanted`."""
    if wanted <= first:
        return measure(wanted)
    low = measure(first)
    high = measure(2 * first)
    grown = low + (high + low * -1.0) * ((wanted - first) / first)
    return Step(
        *(max(value, least) for value, least in zip(vars(grown).values(), vars(high).values(), strict=True))
    )


def _small(
    params: Params, shape: dict[str, int], cell: Cell, layers: int, batch: int, shrink: int, device: torch.device
) -> Step:
    values = shapes.random_weights(cell.model, shape, shrink) | {"layers": [layers], "batch": batch}
    own = params.with_budget(cell.model, values)
    small = Cell(**{**vars(cell), "layers": layers})
    with tempfile.TemporaryDirectory() as name:
        data = standin(own, cell.dataset, cell.model, Path(name), shrink)
        task = own.task_of(cell.model)
        made = of_task(task, "feed").feed(own, data, cell.model, device)
        return timed(made, [small], [setting(own, small)])
