"""How far the two arms of the comparison are apart on one data set and model, by the protocol's estimate."""

import numpy as np
import pandas as pd

from descent.analysis.evidence import Evidence
from descent.analysis.verdicts import LEVEL, Estimate, trimmed
from descent.cells import headline

COLUMNS = ["dataset", "model", "where", "gain", "low", "high", "seeds", "depths"]


def video_gains(evidence: Evidence) -> pd.DataFrame:
    """COLUMNS, one row per video data set, model and side of the headline level, of those that have a pair.

    `where`: "in" is over the swept levels gamma <= eps, "out_of" over those above. `gain`: the mean over `seeds`
    of the trimmed mean over `depths` of the mean over these levels of ln(RMSE_baseline / RMSE_ours) of cells of
    one depth and seed, positive where our error is the smaller. `low` and `high`: its LEVEL interval over seeds
    and test items (verdicts.Estimate), NaN with one seed.
    """
    items = evidence.items("video")
    level = headline(evidence.params, "video")
    rows = []
    for where in ("in", "out_of"):
        table = evidence.by_cell("video", f"log_rmse_{where}_distribution")
        at_level = np.abs(table.index.get_level_values("eps").to_numpy(float) - level) < 1e-9
        ours, theirs = evidence.arms(table[at_level])
        for (dataset, model), own in (theirs - ours).groupby(["dataset", "model"]):
            place = {"dataset": dataset, "model": model, "where": where}
            rows.append(place | _estimated(own, items.get(dataset, 0)))
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table[table["seeds"] > 0].reset_index(drop=True)


def _estimated(own: pd.DataFrame, items: int) -> dict[str, float | int]:
    """Of effects by depth and seed, a column for each resample; only seeds that every depth has."""
    depths = own.index.get_level_values("layers").nunique()
    whole = own.dropna().groupby("seed").size() == depths
    seeds = whole[whole].index
    if seeds.empty:
        return {"seeds": 0}
    own = own[own.index.get_level_values("seed").isin(seeds)].sort_index()
    found = Estimate.of(trimmed(own.to_numpy(float).reshape(depths, len(seeds), -1)), items)
    low, high = found.interval(LEVEL)
    numbers: dict[str, float | int] = {"gain": float(found.value), "low": float(low), "high": float(high)}
    return numbers | {"seeds": len(seeds), "depths": depths}
