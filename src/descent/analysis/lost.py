"""Cells that diverged are lost, and not left out: a denoiser scores as the map to zero."""

import pandas as pd

from descent.analysis.select import CELL, select

ZERO = "zero"  # the reference map
ALIKE = ["dataset", "model"]  # what its errors depend on, beside the columns of a test


def as_zero(rows: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """The errors of trained cells; of those that diverged the zero map's, of their data set and model's inputs.

    Args:
        rows: errors of trained cells and of ZERO, a row for each test.
        results: the results table, whose rows `diverged` tell which cells did.
    """
    lost = select(results, metric="diverged", value=1.0)[CELL].drop_duplicates()
    zero = select(rows, arm=ZERO).drop(columns=[name for name in CELL if name not in ALIKE])
    whole = rows[rows["arm"] != ZERO].merge(lost, how="left", on=CELL, indicator="of")
    whole = whole[whole["of"] == "left_only"].drop(columns="of")
    return pd.concat([whole, lost.merge(zero, on=ALIKE)], ignore_index=True)
