"""What training and validation say of a cell, and whether it holds its constraints."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from descent.analysis.results import Row
from descent.cells import Cell
from descent.primal_dual.constraints import relative_violations
from descent.primal_dual.problem import Problem
from descent.training.arm import Setting

CHOSEN = {"alpha", "rho", "dual_lr"}  # of a cell's constraints, what a search or a study may choose


def of_training(
    cell: Cell,
    record: dict[str, Any],
    losses: Sequence[float],
    setting: Setting,
    problem: Problem | None,
    tolerance: float,
) -> Iterable[Row]:
    """The losses of validation, how the cell holds there, and what training noted and used.

    Args:
        record: of the cell, as training wrote it.
        losses: f_0 ... f_L of the reported epoch; none where the cell was lost at once.
        problem: the constraints that the cell is held to; None where no arm in use has any.
    """
    for layer, value in enumerate(losses):
        yield _row("validation", cell, layer, "validation_loss", value)
    for row in rows("validation", cell, losses, problem, tolerance):
        lost = record["diverged"] and row["metric"] == "feasible"  # whatever it held to before
        yield row | {"value": 0.0} if lost else row
    numbers = {"diverged": record["diverged"], "epoch": record["epoch"], "lr": setting.lr}
    chosen = setting.values.model_dump(include=CHOSEN)
    for name, value in (numbers | chosen).items():
        yield _row("validation", cell, cell.layers, name, value)


def rows(
    split: str, cell: Cell, losses: Sequence[float], problem: Problem | None, tolerance: float
) -> Iterable[Row]:
    """The relative violations of a split's losses at the training level, and whether the cell is feasible."""
    worst = math.inf  # without losses, having diverged, it is not
    if problem is None:
        return
    if len(losses):
        v = relative_violations(torch.tensor(losses, dtype=torch.float64)[None], problem)[0, problem.cap_layer :]
        worst = v.max().item()
        for layer, value in enumerate(v.tolist(), start=problem.cap_layer):
            yield _row(split, cell, layer, "violation", value)
    yield _row(split, cell, cell.layers, "feasible", worst <= tolerance)


def losses_at_eps(cell: Cell, tested: Iterable[Row]) -> list[float]:
    """f_0 ... f_L of the rows of a test at the cell's own level; none where it has no such rows."""
    losses = [row for row in tested if row["metric"] == "loss" and row["gamma"] == cell.eps]
    return [row["value"] for row in sorted(losses, key=lambda row: row["layer"])]


def _row(split: str, cell: Cell, layer: int, metric: str, value: float | int) -> Row:
    return {"split": split, "gamma": cell.eps, "layer": layer, "metric": metric, "value": float(value)}
