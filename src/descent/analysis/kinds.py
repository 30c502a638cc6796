"""Accuracy by kind of test text (MNLI's genres), of kinds that training has seen and of others."""

import pandas as pd

from descent.analysis import shifts
from descent.analysis.lost import as_chance
from descent.analysis.select import TRANSFER, average, measured, select
from descent.analysis.summary import best_of_search
from descent.cells import headline
from descent.config import Params

BY = ["dataset", "model", "arm", "tested"]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per data set, model, arm and kind (`tested`), of the headline cells at their level of training.

    `accuracy` is the mean over depths and seeds; shifts.NUMBERS are of the gain over the baseline, the difference
    of accuracies in the same setting and seed, a trimmed mean over depths, and missing (NaN) for the baseline
    itself. A cell that diverged scores as chance; of a search each arm has its best trial.
    """
    cells = select(best_of_search(results, params), experiment="text", eps=headline(params, "text"))
    rows = measured(select(cells, shift=TRANSFER, metric="accuracy", split="test", bin=0.0))
    rows = as_chance(rows[rows["arm"].isin(params.arms)], cells, params)
    if rows.empty:
        return pd.DataFrame(columns=[*BY, "accuracy", *shifts.NUMBERS])
    means = average(rows, BY, over=["layers", "layer", "seed"]).rename("accuracy").reset_index()
    gains = shifts.estimates(shifts.against_baseline(rows, params), BY)
    return means.merge(gains, how="left", on=BY)
