"""How far the two arms of the comparison are apart on one data set and model, by the protocol's estimate."""

import pandas as pd

from descent.analysis import effects
from descent.analysis.evidence import Evidence
from descent.analysis.keys import PLACE
from descent.analysis.scorecard import estimated
from descent.cells import headline

COLUMNS = ["dataset", "model", "where", "gain", "low", "high", "seeds"]


def video_gains(evidence: Evidence) -> pd.DataFrame:
    """COLUMNS, one row per video data set, model and side of the headline level, of those that have a pair.

    `where`: "in" is over the swept levels gamma <= eps, "out_of" over those above. `gain`: the mean over `seeds`
    of the trimmed mean over depths of the mean over these levels of ln(RMSE_baseline / RMSE_ours) of cells of one
    depth and seed, positive where our error is the smaller. `low` and `high`: its 95 % interval over seeds and
    test items (verdicts.Estimate), NaN with one seed.
    """
    items = evidence.items("video")
    level = headline(evidence.params, "video")
    rows = []
    for where in ("in", "out_of"):
        table = evidence.by_cell("video", f"log_rmse_{where}_distribution")
        ours, theirs = evidence.arms(effects.of(table, eps=level))
        for (dataset, model), own in effects.as_pairs(theirs - ours).groupby(PLACE):
            if known := estimated(own, items.get(dataset, 0)):
                found, _ = known
                rows.append([dataset, model, where, *found.numbers(), found.seeds])
    return pd.DataFrame(rows, columns=COLUMNS)
