"""Not in the paper: what plain training gains by stopping before its last layer, beside what constraints gain."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import stopped
from descent.analysis.select import select
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Stopped early"
CAPTION = """
Ours, not the paper's. Each arm's answers after every layer: what they pay up to the noise of training (across)
and gain above it (up), both in percent of ln RMSE against the last layer of plain training, which is at zero. A
number is the layer. Large: the last one, with 95 % intervals of its gain over seeds. Up and left is better. At
the headline training level, one panel per depth; what costs more than twice what the constraints do is not shown.
"""
DATASET, MODEL = "ucsd", "dust"  # of the paper's Figure 7
PARAMETERS = ["eps", "arms", "comparison", "objectives.${ours}", "profiles.${profile}.video"]
LEAST = 15.0  # percent of price that every panel shows


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Gain against price by layer, for DUST on UCSD (or the first in use). Raises UserError without its rows."""
    dataset, model = curves.choice(params.video, DATASET, MODEL)
    place = {"dataset": dataset, "model": model, "eps": headline(params, "video")}
    rows = curves.required(results, "evaluate_video", experiment="video", **place)
    found = stopped.table(rows, params)
    depths = sorted(found["layers"].unique().tolist())
    figure, grid = style.panels(1, max(1, len(depths)), style.TEXT, 2.8)
    for layers, axes in zip(depths, grid[0], strict=False):
        own = select(found, layers=layers)
        ours = select(own, arm=params.comparison.ours, layer=layers)["gain_in"]
        most = max(LEAST, *(-200 * ours))
        for arm in params.comparison.arms:
            _path(axes, select(own, arm=arm), arm, most)
        axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
        axes.axvline(0, color=style.GREY, linewidth=0.8, zorder=0)
        axes.set(title=curves.of_setting(model, dataset, layers), xlabel="price up to the noise of training, %")
    grid[0][0].set_ylabel("gain above it, %")
    style.legend(figure)
    return figure


def _path(axes: Axes, own: pd.DataFrame, arm: str, most: float) -> None:
    own = own[-100 * own["gain_in"] <= most].sort_values("layer")
    price, gain = -100 * own["gain_in"], 100 * own["gain_out"]
    look = {"color": style.color(arm), "linestyle": style.dashes(arm)}
    axes.plot(price, gain, marker="o", markersize=3, label=style.name(arm), **look)
    for row, x, y in zip(own.itertuples(), price, gain, strict=True):
        axes.annotate(str(row.layer), (x, y), xytext=(3, 3), textcoords="offset points", color=look["color"])
    last = own[own["layer"] == own["layers"]]
    ends = [100 * (last["gain_out"] - last["gain_out_low"]), 100 * (last["gain_out_high"] - last["gain_out"])]
    axes.errorbar(-100 * last["gain_in"], 100 * last["gain_out"], yerr=ends, fmt="o", color=look["color"])
