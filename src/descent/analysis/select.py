"""What everyone does to rows of the results table: choose, keep numbers, average over what was named."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from descent.analysis.results import COLUMNS
from descent.components import TASKS, TRAINED
from descent.config import Params
from descent.errors import UserError

TRANSFER = "transfer"  # in place of a shift: the noise of training on other data sets, or by kind of test text
UNSEEN = " (unseen)"  # ends the name of a kind of text that training has not seen
SETTING = ["dataset", "model", "layers", "eps"]  # a setting, and the noise it trains on
CURVE = ["dataset", "model", "arm", "eps"]  # what cells share that differ by depth and seed
CELL = ["profile", "experiment", "dataset", "model", "arm", "layers", "eps", "seed", "varied"]


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


def in_distribution(gamma: pd.Series | np.ndarray, eps: pd.Series | float) -> Any:
    """Whether a level of the test noise is at most that of training: on it every claim about either side rests."""
    return gamma <= eps + 1e-9


def at_eps(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose test noise is that of their cell's training: TRAINED, at its level."""
    return rows[(rows["shift"] == TRAINED) & ((rows["gamma"] - rows["eps"]).abs() < 1e-9)]


def last_layer(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows about the output of the whole model."""
    return rows[rows["layer"] == rows["layers"]]


def check_named(rows: pd.DataFrame, by: Sequence[str], over: Sequence[str] = ()) -> None:
    """Refuse to join rows that differ in what nobody named: a second shift, seed or metric is no repetition.

    Raises:
        UserError: a column of the results table that is neither in `by` nor in `over` has several values within
            one of the groups that the columns `by` make.
    """
    if not rows.duplicated(list(by)).any():
        return
    for column in COLUMNS:
        if column in (*by, *over, "value") or column not in rows or rows[column].nunique() < 2:
            continue
        mixed = rows.groupby(list(by))[column].transform("first") != rows[column]
        if mixed.any():
            values = ", ".join(str(value) or "none" for value in sorted(rows[column].unique()))
            raise UserError(
                f"an average over the column {column!r} ({values}) that nobody asked for: choose one of its "
                "values, or name the column"
            )


def average(rows: pd.DataFrame, by: Sequence[str], over: Sequence[str] = ()) -> pd.Series:
    """The mean of `value` by the columns `by`.

    Args:
        over: the columns that it averages over on purpose.

    Raises:
        UserError: as `check_named`.
    """
    check_named(rows, by, over)
    return rows.groupby(list(by))["value"].mean()


def mean(rows: pd.DataFrame, over: Sequence[str] = ()) -> pd.Series:
    """The mean value of each cell, by CELL; `over` and errors as of `average`."""
    return average(rows, CELL, over)


def whole_sweep(rows: pd.DataFrame, metric: str, gammas: Iterable[float]) -> pd.DataFrame:
    """One metric's rows at the levels of a sweep, of the cells that have every level of it (of each shift)."""
    levels = np.array(sorted(set(gammas)))
    rows = select(rows, metric=metric)
    at = np.abs(rows["gamma"].to_numpy()[:, None] - levels) < 1e-9
    rows = rows[at.any(axis=1)].sort_values("gamma", kind="stable")
    return rows[rows.groupby([*CELL, "shift"])["value"].transform("size") == len(levels)]


def sweep(rows: pd.DataFrame, metric: str, params: Params) -> pd.DataFrame:
    """One metric's rows at the levels of their task's `evaluation.gammas`, of the cells that have every level.

    A row's task is that of its model, also in a study.
    """
    tasks = rows["model"].map({model: said["TASK"] for model, said in params.components["models"].items()})
    return pd.concat(
        [whole_sweep(rows[tasks == task], metric, params.section(task).evaluation.gammas) for task in TASKS]
    )
