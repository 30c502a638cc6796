"""Not in the paper: what plain training gains by stopping before its last layer, beside what constraints gain."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import stopped
from descent.analysis.select import last_layer, select
from descent.analysis.wording import unit_of
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

TASKS = ("video", "text", "lm")
TITLE = "Stopped early"
CAPTION = """
Ours, not the paper's. Each arm's answers after every layer: their price up to the noise of training (across) and
their gain above it (up), against the last layer of plain training, which is at zero: of video in percent of ln
RMSE, of texts and language models in points of accuracy. A number is the layer. Large: the last one, with 95 %
intervals of its gain over seeds. Up and left is better. At the headline training level, one panel per depth; what
costs more than twice what the constraints do, and more than 15, is not shown.
"""
PARAMETERS = ["eps", "text.eps", "lm.eps", "arms", "comparison", "objectives.${ours}"]
LEAST = 15.0  # percent or points of price that every panel shows
COLUMNS = 3


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Gain against price by layer, a data set and model of every task in use (of the paper's, or the first).
    Raises UserError without rows of one."""
    shown = [(task, own) for task in params.tasks for own in _by_depth(results, params, task)]
    figure, places = style.in_rows(len(shown), COLUMNS, 2.6, 0.2)
    for axes, (task, own) in zip(places, shown, strict=False):
        _panel(axes, task, own, params.comparison.ours)
    style.legend(figure)
    return figure


def _by_depth(results: pd.DataFrame, params: Params, task: str) -> list[pd.DataFrame]:
    dataset, model = curves.choice(params.section(task), curves.DATASETS[task], curves.MODELS[task])
    place = {"dataset": dataset, "model": model, "eps": headline(params, task)}
    rows = curves.required(results, f"evaluate_{task}", experiment=task, **place)
    return [own for _, own in stopped.table(rows, params).groupby("layers")]


def _panel(axes: Axes, task: str, own: pd.DataFrame, ours: str) -> None:
    ends = select(last_layer(own), arm=ours)["gain_in"]
    most = max(LEAST, *(-200 * ends))
    for arm, path in own.groupby("arm", sort=False):
        _path(axes, path[-100 * path["gain_in"] <= most].sort_values("layer"), str(arm))
    axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
    axes.axvline(0, color=style.GREY, linewidth=0.8, zorder=0)
    one = own.iloc[0]
    axes.set(
        title=curves.of_setting(one["model"], one["dataset"], int(one["layers"])),
        xlabel=f"price, {unit_of(task)}",
        ylabel=f"gain, {unit_of(task)}",
    )


def _path(axes: Axes, own: pd.DataFrame, arm: str) -> None:
    price, gain = -100 * own["gain_in"], 100 * own["gain_out"]
    look = {"color": style.color(arm), "linestyle": style.dashes(arm)}
    axes.plot(price, gain, marker="o", markersize=3, label=style.name(arm), **look)
    for row, x, y in zip(own.itertuples(), price, gain, strict=True):
        axes.annotate(str(row.layer), (x, y), xytext=(3, 3), textcoords="offset points", color=look["color"])
    last = last_layer(own)
    ends = [100 * (last["gain_out"] - last["gain_out_low"]), 100 * (last["gain_out_high"] - last["gain_out"])]
    axes.errorbar(-100 * last["gain_in"], 100 * last["gain_out"], yerr=ends, fmt="o", color=look["color"])
