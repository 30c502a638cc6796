"""The columns that rows of a table share, by name: what is grouped, paired and told apart by."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from descent.analysis.select import CELL, CURVE, SETTING

__all__ = ["CELL", "CURVE", "IDENTITY", "PAIR", "PLACE", "SEEDLESS", "SETTING", "VARIANT", "tuples"]

PLACE = ["dataset", "model"]  # all cells of a model on a data set, which a claim counts or leaves out together
PAIR = [*SETTING, "seed"]  # two cells that differ by their arm alone
VARIANT = [*SETTING, "varied"]  # the pairs of a setting, with one value of what a study varies
IDENTITY = CELL[1:]  # a cell's rows, of whatever profile
SEEDLESS = ["dataset", "model", "arm", "layers", "eps", "varied"]  # cells that differ by their seed


def tuples(rows: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """What each row has in these columns."""
    return rows[list(by)].itertuples(index=False, name=None)
