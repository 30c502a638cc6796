"""What each cell scored at each level of test noise, of which all that is judged is made of means."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from descent.analysis.keys import IDENTITY
from descent.analysis.select import TRANSFER, at_eps, in_distribution, last_layer, select, whole_sweep
from descent.components import TRAINED

# Of the last layer, and of maps that learn nothing.
BY_LEVEL = ("rmse", "rmse_bias", "rmse_variance", "accuracy", "most_frequent")
COLUMNS = [*IDENTITY, "gamma", "layer", "metric", "value"]
SHIFTED = [*IDENTITY, "shift", "gamma", "metric", "value"]
FILE = "scores.csv"  # of a published part, which one of before 2026-11-27 may lack


def table(results: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS: of every tested cell and every map that learns nothing, under the noise of training on the test set
    itself, `rmse` (of cells its bias and variance too) or `accuracy` at each level, and the `loss` of each layer
    at the training level; of texts the share of the most frequent answer.

    The gain of a pair is the mean of ln(rmse of the baseline / rmse of ours) over the swept levels above eps (the
    `gammas` of params.yaml; the training level is measured beside them), or the difference of mean accuracies,
    where neither is lost (`diverged` in cells.csv). A cell descends where its losses fall.
    """
    rows = select(results, split="test", shift=TRAINED, tested="", bin=0.0)
    outputs = last_layer(rows[rows["metric"].isin(BY_LEVEL)])
    losses = at_eps(select(rows, metric="loss"))
    return pd.concat([outputs, losses])[COLUMNS].sort_values(COLUMNS[:-1]).reset_index(drop=True)


def shifted(results: pd.DataFrame) -> pd.DataFrame:
    """SHIFTED: the `rmse` or `accuracy` of every cell's last layer at each level of every shift that training has
    not seen, by which arms are compared under it that no table lays beside each other."""
    rows = select(results, split="test", tested="", bin=0.0)
    rows = last_layer(rows[~rows["shift"].isin([TRAINED, TRANSFER]) & rows["metric"].isin(["rmse", "accuracy"])])
    return rows[SHIFTED].sort_values(SHIFTED[:-1]).reset_index(drop=True)


def either_side(folder: Path, gammas: Sequence[float]) -> pd.DataFrame:
    """Of a published part's cells of video the mean of -ln RMSE over the swept levels of test noise above the
    training level (`out`) and up to it (`in`), by IDENTITY, where they have them all; empty where
    the part has no FILE."""
    if not (folder / FILE).exists():
        return pd.DataFrame(columns=["out", "in"], index=pd.MultiIndex.from_tuples([], names=IDENTITY))
    rows = pd.read_csv(folder / FILE, dtype={"varied": str}).fillna({"varied": ""})
    rows = select(rows[rows["layers"] > 0], metric="rmse")  # without maps that learn nothing
    rows = whole_sweep(rows.assign(profile="", shift=TRAINED), "rmse", gammas)
    rows = rows.assign(score=-np.log(rows["value"]))
    inside = in_distribution(rows["gamma"], rows["eps"])
    sides = {"out": rows[~inside], "in": rows[inside]}
    return pd.DataFrame({name: side.groupby(IDENTITY)["score"].mean() for name, side in sides.items()})
