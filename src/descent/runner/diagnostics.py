"""What a cell's history says of how it trained: the rows by which one sees whether the constraints acted."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
import torch

from descent.analysis.results import Row
from descent.analysis.tails import tail
from descent.cells import Cell
from descent.primal_dual.constraints import violations
from descent.primal_dual.problem import Problem
from descent.runner.stored import Stored

BY_EPOCH = {
    "loss_epoch": "loss_validation",
    "violation_epoch": "violation_validation",
    "multiplier_epoch": "multiplier_mean",
    "weight_epoch": "weight_mean",
}


def rows(stored: Stored, cell: Cell, tolerance: float, values: Any, by_epoch: bool) -> list[Row]:
    """The rows of a trained cell; what has no number, as a spread over one epoch, has no row.

    Args:
        tolerance: on the relative violation of an epoch that counts as feasible.
        values: the settings of its arm; of one that has constraints, their problem.
        by_epoch: whether its epochs have rows one by one too, for figures; those of all cells would be most of the
            table.
    """
    found = [*_all(stored, cell, tolerance, getattr(values, "warmup_epochs", 0))]
    found += _epochs(stored, cell) if by_epoch else []
    if isinstance(values, Problem) and len(log := stored.history) and "multiplier_mean" in log:
        found.append(_row(cell, "slackness", slackness(log[log["epoch"] == log["epoch"].max()], values)))
        found.append(_row(cell, "descent_active", descent_active(log, values.cap_layer)))
    return [row for row in found if math.isfinite(row["value"])]


def descent_active(log: pd.DataFrame, cap_layer: int) -> bool:
    """Whether over the last quarter of a history's epochs the mean multiplier of some constraint on descent is
    above zero. The cap's, at `cap_layer`, is none of them: a model that it alone moves descends as it likes."""
    epochs = log["epoch"].unique()
    last = log[log["epoch"].isin(epochs[-tail(len(epochs)) :]) & (log["layer"] > cap_layer)]
    return bool((last.groupby("layer")["multiplier_mean"].mean() > 0).any())


def slackness(epoch: pd.DataFrame, problem: Problem) -> float:
    """How far an epoch is from complementary slackness: sum_l lambda_l |v_l - u_l| beside the objective f_L (of
    logarithms, whose objective has no scale, by itself). v_l as training asks for it, margin and all, on the
    epoch's mean losses; u_l the slack, or what dual weight decay stands for one, lambda_l / rho.

    Zero where no multiplier is left on a constraint that is missed or holds to spare, as in every solution; zero
    does not make one.
    """
    f, multipliers = (
        torch.tensor(epoch[name].to_numpy(), dtype=torch.float64) for name in ("loss_train", "multiplier_mean")
    )
    relaxed = multipliers / problem.rho if problem.resilience == "decay" else torch.zeros_like(f)
    if problem.resilience == "slacks":
        relaxed = torch.tensor(epoch["slack"].to_numpy(), dtype=torch.float64)
    missed = (multipliers * (violations(f[None], problem)[0] - relaxed).abs()).sum().item()
    return missed if problem.constraint == "log" else missed / f[-1].item()


def _all(stored: Stored, cell: Cell, tolerance: float, warmup: int) -> Iterable[Row]:
    log, made_by = stored.history, stored.record["made_by"]
    yield _row(cell, "clipped", log.drop_duplicates("epoch")["clipped"].mean())
    yield _row(cell, "seconds", made_by["seconds"] / made_by["cells_in_stack"])
    yield _row(cell, "parameters", stored.parameters)
    by = {name: log.pivot(index="epoch", columns="layer", values=name) for name in log.columns[2:]}
    own = slice(-tail(log["epoch"].nunique()), None)
    yield _row(cell, "oscillation", _swing(by["loss_train"].iloc[own])[0])
    for metric, column in (("multiplier", "multiplier_mean"), ("weight", "weight_mean")):
        for layer, value in (by[column].iloc[own].mean() if column in by else pd.Series()).items():
            yield _row(cell, metric, value, layer)
    if "multiplier_mean" in by:
        last = by["multiplier_mean"].iloc[own]
        yield _row(cell, "active", (last.mean() > 0).any())
        yield _row(cell, "multiplier_oscillation", _swing(last).max())
    if "violation_validation" in by and stored.epochs > warmup:
        worst = by["violation_validation"].iloc[warmup:].max(axis=1, skipna=False)
        # Of all that were asked for: a lost cell held nothing in those that it did not reach, and no layer holds
        # a constraint whose violation is no number.
        yield _row(cell, "feasible_epochs", (worst <= tolerance).sum() / (stored.epochs - warmup))


def _epochs(stored: Stored, cell: Cell) -> Iterable[Row]:
    columns = {metric: column for metric, column in BY_EPOCH.items() if column in stored.history}
    for noted in stored.history.to_dict("records"):
        for metric, column in columns.items():
            yield _row(cell, metric, noted[column], noted["layer"]) | {"bin": float(noted["epoch"])}


def _swing(epochs: pd.DataFrame) -> pd.Series:
    """Standard deviation over mean, by layer; zero where all is zero."""
    return (epochs.std() / epochs.mean()).where(epochs.mean() != 0, 0.0)


def _row(cell: Cell, metric: str, value: Any, layer: int | None = None) -> Row:
    place = {"split": "validation", "gamma": cell.eps, "layer": cell.layers if layer is None else layer}
    return place | {"metric": metric, "value": float(value)}
