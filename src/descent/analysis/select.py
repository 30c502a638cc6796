"""What is done to rows of the results table by everyone who reads it: choose, keep numbers, average by cell."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

CELL = ["profile", "experiment", "dataset", "model", "method", "layers", "eps", "seed", "varied"]


def select(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows that hold these values; floats are compared to 1e-9, so that 0.15 is 0.15 wherever from."""
    keep = pd.Series(True, index=table.index)
    for column, value in values.items():
        same = (table[column] - value).abs() < 1e-9 if isinstance(value, float) else table[column] == value
        keep &= same
    return table[keep]


def measured(results: pd.DataFrame) -> pd.DataFrame:
    """The rows that hold a number: the NaN or infinity of a cell that diverged is no measurement."""
    return results[np.isfinite(results["value"])]


def at_eps(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose test noise is their cell's training level."""
    return rows[(rows["gamma"] - rows["eps"]).abs() < 1e-9]


def last_layer(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows about the output of the whole model."""
    return rows[rows["layer"] == rows["layers"]]


def mean(rows: pd.DataFrame) -> pd.Series:
    """The mean value of each cell, by CELL."""
    return rows.groupby(CELL)["value"].mean()


def whole_sweep(rows: pd.DataFrame, metric: str, gammas: Iterable[float]) -> pd.DataFrame:
    """One metric's rows at the levels of a sweep, of the cells that have every level of it."""
    levels = sorted(set(gammas))
    rows = select(rows, metric=metric)
    rows = pd.concat([select(rows, gamma=float(level)) for level in levels])
    return rows[rows.groupby(CELL)["value"].transform("size") == len(levels)]
