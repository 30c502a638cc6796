"""Table 3: the mean RMSE over the test noise levels, every setting, both arms, beside the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.keys import SETTING
from descent.analysis.lost import truth
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, pairs, remarks, style, tables

PAPER = Path("data/paper/table3_video_rmse.csv")
LOWER = -1  # is better
TITLE = "Mean RMSE over test noise levels"
CAPTION = """
RMSE (0-255, lower is better) on held-out test clips, averaged over the levels of video.evaluation.gammas and over
the seeds that did not diverge, of the two arms of `comparison`. Bold: the better arm of a pair, as printed; a tie
has none. A dagger marks cells that ended infeasible on validation data (of an arm with constraints), and diverged
cells of either arm. Active, over all seeds: the share of the epochs in which the multiplier of some constraint on
descent is above zero / the share of the seeds of which one is in the epoch whose weights are reported. Feasible:
the share of the seeds on validation / test data. Beside ours, the paper's Table 3 where it has the setting. A
dash: no such number.
"""
PARAMETERS = [
    "comparison",
    "video.evaluation.gammas",
    "video.datasets",
    "video.models",
    "video.tolerance",
    "eps",
    "profiles.${profile}.video",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per (dataset, model, layers, eps): both arms' means, how the constraints held, whether marked,
    the paper's two numbers.

    Raises UserError where no video cell has rows.
    """
    cells = cells_table(curves.required(results, "evaluate_video", experiment="video"), params)
    cells = cells.assign(marked=cells["infeasible"] | truth(cells["diverged"]))
    cells = cells[cells["trained"]].astype(dict.fromkeys(pairs.HELD, float))
    measures = {"mean_rmse": "mean", **dict.fromkeys(pairs.HELD, "mean"), "marked": "max"}
    by_arm = cells.groupby([*SETTING, "arm"], as_index=False).agg(measures)
    table = pairs.build(by_arm, params, {"mean_rmse": ""})
    paper = pairs.paper(tables.paper(PAPER, params, "video"), params)
    return table.merge(paper, how="left", on=SETTING)


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Rows model x L x eps; for each data set what `pairs.display` shows, the better arm bold."""

    def written(row: pd.Series, prefix: str, arm: str) -> str:
        digits = 1 if prefix else 2
        marked = not prefix and bool(row[f"{arm}_marked"])
        return tables.number(
            row[prefix + arm], digits, pairs.better(row, params, prefix, arm, LOWER, digits), marked
        )

    return pairs.display(table, params, "video", written)


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """The count of wins, ours and the paper's in the same settings; what differs; a warning of synthetic data."""
    lines = pairs.wins(table, params, LOWER) + remarks.capacity(params, params.video.models)
    return lines + remarks.frames(params) + pairs.orientation(params, style.VIDEO)
