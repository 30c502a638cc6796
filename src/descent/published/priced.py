"""What descent cost in every published run, beside the closed form of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from descent.analysis import price
from descent.analysis.wording import UNKNOWN
from descent.components import TASKS
from descent.config import Params
from descent.published import files
from descent.published.markdown import pipe

TITLE = "What descent costs"
# Of ln f_L over ERM's, as the protocol had it before its run: so much, and a share of what is said.
NEAR = (0.02, 0.1)
HEADER = (
    "layers",
    "model",
    "data set",
    "settings",
    "constraints hold in all cells",
    "f_L over ERM's: mean, from to",
    "where the closed form has an answer: the same mean",
    "what it says",
    "near it",
)


def settings(folders: Sequence[Path]) -> pd.DataFrame:
    """The rows of price.measured of every part that has any, with its name as `run`."""
    parts = [(folder.name, files.params(folder), files.cells(folder)) for folder in folders]
    found = [price.measured(cells, own).assign(run=name) for name, own, cells in parts if TASKS[0] in own.tasks]
    return pd.concat([rows for rows in found if len(rows)] or [pd.DataFrame()], ignore_index=True)


def table(found: pd.DataFrame, params: Params) -> str:
    """A row for each model and data set, those whose layers are one map first; empty where there is none."""
    return pipe(HEADER, _rows(found, params)) if len(found) else ""


def near(found: pd.DataFrame) -> pd.Series:
    """Whether what is paid lies NEAR what the closed form says; false where that has no answer."""
    least, share = NEAR
    return (found["paid"] - found["expected"]).abs() <= least + share * found["expected"]


def _rows(found: pd.DataFrame, params: Params) -> Iterator[list[object]]:
    for (own, model, dataset), rows in found.groupby([~found["tied"], "model", "dataset"]):
        middle, low, high = np.exp([rows["paid"].mean(), rows["paid"].min(), rows["paid"].max()])
        answered = rows[rows["expected"].notna()]
        yield [
            "maps of their own" if own else "one map",
            params.label(model),
            params.label(dataset),
            len(rows),
            (rows["held"] == 1).sum(),
            f"{middle:.2f} ({low:.2f} to {high:.2f})",
            f"{np.exp(answered['paid'].mean()):.2f}" if len(answered) else UNKNOWN,
            f"{np.exp(answered['expected'].mean()):.2f}" if len(answered) else UNKNOWN,
            f"{near(answered).sum()} of {len(answered)}" if len(answered) else UNKNOWN,
        ]
