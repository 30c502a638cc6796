"""Cells trained for twice the epochs, each beside the grid's cell that differs in that alone (P4)."""

import pandas as pd

from descent.analysis.keys import PAIR
from descent.analysis.lost import truth
from descent.components import TASKS
from descent.study import LONGER

BEFORE = "_before"  # a column of the grid's cell


def cells(trained: pd.DataFrame) -> pd.DataFrame:
    """The cells of studies of twice the epochs, with the columns of the grid's cell as `<column>_before`.

    `twin`: whether the grid has one. `lower`: by what share f_L on validation data is lower than there (negative:
    it is higher), missing where either diverged, whose last loss says nothing of the others.
    """
    longer = trained[trained["experiment"].str.startswith(LONGER)]
    grid = trained[trained["experiment"].isin(TASKS)]
    both = longer.merge(grid, how="left", on=[*PAIR, "arm"], suffixes=("", BEFORE), indicator="twin")
    lost = truth(both["diverged"]) | truth(both["diverged" + BEFORE])
    loss, before = (both["validation_loss" + when].astype(float) for when in ("", BEFORE))
    return both.assign(twin=both["twin"] == "both", lower=(1 - loss / before).mask(lost))
