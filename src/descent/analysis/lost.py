"""Cells that diverged are lost, and not left out: a denoiser scores as the map to zero, a classifier as chance."""

import pandas as pd

from descent.analysis.keys import CELL, PLACE
from descent.analysis.select import select
from descent.config import Params

ZERO = "zero"  # the reference map


def as_zero(rows: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """The errors of trained cells; of those that diverged the zero map's, of their data set and model's inputs.

    Args:
        rows: errors of trained cells and of ZERO, a row for each test.
        results: the results table, whose rows `diverged` tell which cells did.
    """
    zero = select(rows, arm=ZERO).drop(columns=[name for name in CELL if name not in PLACE])
    whole, lost = _parted(rows[rows["arm"] != ZERO], results)
    return pd.concat([whole, lost.merge(zero, on=PLACE)], ignore_index=True)


def as_chance(rows: pd.DataFrame, results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The accuracies of trained cells; of those that diverged chance's, in every test of their data set and model.

    Args:
        rows: accuracies of the last layer of trained cells, a row for each test.
        results: as of `as_zero`.
    """
    test = [name for name in rows if name not in CELL and name not in ("layer", "value")]
    whole, lost = _parted(rows, results)
    tests = rows[["experiment", *PLACE, *test]].drop_duplicates()
    guessed = lost.merge(tests, on=["experiment", *PLACE])
    values = guessed["dataset"].map(lambda dataset: chance(params, dataset)).astype(float)
    return pd.concat([whole, guessed.assign(layer=guessed["layers"], value=values)], ignore_index=True)


def _parted(rows: pd.DataFrame, results: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of cells that did not diverge, and the cells that did."""
    lost = select(results, metric="diverged", value=1.0)[CELL].drop_duplicates()
    marked = rows.merge(lost, how="left", on=CELL, indicator="of")
    return marked[marked["of"] == "left_only"].drop(columns="of"), lost


def truth(values: pd.Series) -> pd.Series:
    """What is said of cells as truths: False of those of which nothing is said."""
    return values.astype(object).where(values.notna(), False).astype(bool)  # truths, numbers or nothing alike


def chance(params: Params, dataset: str) -> float:
    """Accuracy without learning: 1 / classes; of next tokens 0, as of thousands of words."""
    said = params.components["tasks.text.datasets"].get(dataset)
    return 1 / len(said["CLASSES"]) if said else 0.0
