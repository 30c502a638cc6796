"""Not in the paper: which part of the error sets the two arms apart, at every level of the test noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.summary import sound
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Bias and variance"
CAPTION = """
Ours, not the paper's. The squared error of our arm less that of plain training, in percent of the latter's, and
the two parts that it is the sum of: bias, what another draw of the noise leaves of an error, and variance, what
it moves. Below zero our arm has less of it. One batch spread over the test set, two draws of the noise, means
over seeds; at the headline training level, one panel per depth. Seeds of which an arm diverged are left out.
"""
DATASET, MODEL = "ucsd", "dust"  # of the paper's Figure 7
PARAMETERS = ["eps", "arms", "comparison", "objectives.${ours}", "profiles.${profile}.video"]
PARTS = {"rmse_bias": "bias", "rmse_variance": "variance"}
WHOLE = "both"
NONE = "no error was measured in parts"


def render(results: pd.DataFrame, params: Params) -> Figure:
    """What sets the arms apart, for DUST on UCSD (or the first in use). Raises UserError without rows of them."""
    dataset, model = curves.choice(params.video, DATASET, MODEL)
    place = {"experiment": "video", "dataset": dataset, "model": model, "eps": headline(params, "video")}
    rows = curves.required(results, "evaluate_video", **place)
    rows = sound(rows, params)
    depths = sorted(rows["layers"].unique().tolist())
    figure, grid = style.panels(1, max(1, len(depths)), style.TEXT, 2.6, sharey=True)
    for layers, axes in zip(depths, grid[0], strict=False):
        axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
        for (name, points), color in zip(apart(rows, layers, params).items(), style.PALETTE, strict=False):
            look = {"color": "black", "linewidth": 1.0} if name == WHOLE else {"color": color, "marker": "o"}
            axes.plot(points.index, points.to_numpy(), label=name, markersize=2.5, **look)
        curves.mark_training_level(axes, place["eps"])
        axes.set(title=curves.of_setting(model, dataset, layers), xlabel=style.GAMMA)
    grid[0][0].set_ylabel("ours less plain training,\n% of its squared error")
    style.legend(figure)
    return figure


def lacking(results: pd.DataFrame, params: Params) -> str:
    """Why the data leave nothing to show; empty where they have something."""
    return "" if results["metric"].isin(list(PARTS)).any() else NONE


def apart(rows: pd.DataFrame, layers: int, params: Params) -> pd.DataFrame:
    """By gamma, in percent of the baseline's squared error: what each part of ours is larger, and their sum."""
    squares = rows.assign(value=rows["value"] ** 2)
    ours, baseline = (
        pd.DataFrame(
            {
                name: curves.curve(squares, "gamma", metric, arm=arm, layers=layers)
                for metric, name in PARTS.items()
            }
        )
        for arm in params.comparison.arms
    )
    difference = 100 * (ours - baseline).div(baseline.sum(axis=1, skipna=False), axis=0)
    return difference.assign(**{WHOLE: difference.sum(axis=1, skipna=False)})
