"""Models trained on one video data set and tested on another: every pair of data sets, the own one among them."""

import pandas as pd

from descent.analysis import shifts
from descent.analysis.keys import CELL
from descent.analysis.lost import ZERO, as_zero
from descent.analysis.select import TRAINED, TRANSFER, average, measured, select
from descent.cells import REFERENCES, headline
from descent.config import Params

BY = ["model", "arm", "gamma", "dataset", "tested"]
COLUMNS = [*BY, "rmse", *shifts.NUMBERS]
TEST = ["split", "shift", "tested", "gamma", "layer", "bin", "metric", "value"]


def errors(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The RMSE (0-255) of video's trained cells by `dataset`, the one of training, and `tested`, that of the test.

    At the levels of TRANSFER, under which the cells meet the other data sets with the sigma of their own; on the
    diagonal stands the ordinary score. A cell that diverged scores as the map to zero.
    """
    rows = measured(select(results, split="test", metric="rmse", experiment="video", bin=0.0))
    away = select(rows, shift=TRANSFER)
    home = select(rows, shift=TRAINED)
    home = home.assign(tested=home["dataset"], shift=TRANSFER)
    levels = away[["eps", "gamma"]].drop_duplicates()
    trained = home[home["arm"].isin(params.arms)].merge(levels)
    zero = home[home["arm"] == ZERO].drop(columns="dataset").merge(away[["dataset", "gamma"]].drop_duplicates())
    whole = pd.concat([away[away["arm"].isin(params.arms)], trained, zero[rows.columns]])
    # The levels of a cell that diverged are those of its eps.
    return as_zero(whole, select(results, experiment="video")).merge(levels)[[*CELL, *TEST]]


def matrix(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """COLUMNS: by model, arm, level `gamma`, `dataset` of training and data set `tested`, of video's cells of the
    headline training level; empty where no model was tested on another data set's clips.

    `rmse` is the mean over depths and seeds; shifts.NUMBERS are of the gain over the baseline, ln(its RMSE / the
    arm's) in the same setting and seed, a trimmed mean over depths, and missing (NaN) for the baseline itself.
    """
    rows = select(results, experiment="video")
    # Maps that learn nothing have no level, and stand for cells that diverged.
    rows = rows[rows["arm"].isin(REFERENCES) | ((rows["eps"] - headline(params, "video")).abs() < 1e-9)]
    if select(rows, shift=TRANSFER).empty:
        return pd.DataFrame(columns=COLUMNS)
    found = errors(rows, params)
    means = average(found, BY, over=["layers", "layer", "seed"]).rename("rmse").reset_index()
    gains = shifts.estimates(shifts.against_baseline(found, params), BY)
    return means.merge(gains, how="left", on=BY)[COLUMNS]
