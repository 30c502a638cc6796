"""Not in the paper: what descent costs on validation data, beside a closed form."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from descent.analysis import price
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, scales, style

TITLE = "What descent costs, measured and foretold"
CAPTION = """
Ours, not the paper's. The loss of the last layer of constrained video models over that of ERM's, on validation
data with the noise of training: a point for each data set, model, depth, alpha, margin and cap, the mean over
the seeds of which neither cell diverged, with Student's 95 % interval where there are several. Left: models
whose layers are all one map, against what a closed form says, from alpha, the cap, the depth and ERM's loss, of
a map that comes to rest at the best estimate; nothing in it is fitted (src/descent/analysis/price.py). On the
line it is right; points for which it has no answer are left out. Right: models in which every layer is a map of
its own, which by the same reasoning need not pay. Hollow: of some of these cells the constraints do not hold on
validation data.
"""
PARAMETERS = [
    "eps",
    "arms",
    "comparison",
    "studies",
    "models",
    "objectives.${ours}",
    "profiles.${profile}.video",
]
HEIGHT = 3.5  # inches
TICKS = (0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5)

left_out = curves.without_constraints


def render(results: pd.DataFrame, params: Params) -> Figure:
    """The settings of a run. Raises UserError without rows of video."""
    curves.required(results, "evaluate_video", experiment="video")
    return drawn(price.measured(cells_table(results, params), params))


def drawn(found: pd.DataFrame) -> Figure:
    """The same of rows of price.measured."""
    rows = [found[found["tied"] & found["expected"].notna()], found[~found["tied"]]] if len(found) else []
    if not any(len(own) for own in rows):
        return style.empty("no pair of cells to compare, or none of which the closed form speaks")
    one, own = rows
    widths = {_foretold: 3.0 if len(one) else 0.0, _by_model: 2.0 if len(own) else 0.0}
    shown = [draw for draw, width in widths.items() if width]
    ratios = [widths[draw] for draw in shown]
    figure, [panels] = style.panels(1, len(shown), style.TEXT, HEIGHT, sharey=True, width_ratios=ratios)
    names = sorted(found["dataset"].unique())
    colors = dict(zip(names, style.PALETTE, strict=False))
    for draw, axes in zip(shown, panels, strict=True):
        draw(axes, one if draw is _foretold else own, colors)
    scales.logarithmic(panels[0])
    panels[0].yaxis.set_major_locator(FixedLocator(TICKS))
    panels[0].set_ylabel("measured: $f_L$ over ERM's")
    for name, color in colors.items():
        panels[0].add_line(Line2D([], [], marker="o", linestyle="none", color=color, label=style.name(name)))
    style.legend(figure, columns=6)
    return figure


def _foretold(axes: Axes, rows: pd.DataFrame, colors: dict[str, str]) -> None:
    """Models whose layers are one map, against the closed form."""
    for marker, (model, own) in zip(cycle(style.MARKERS), rows.groupby("model"), strict=False):
        for row in own.itertuples():
            _point(axes, np.exp(row.expected), row, colors[row.dataset], marker)
        look = {"marker": marker, "linestyle": "none", "color": style.GREY}
        axes.add_line(Line2D([], [], label=style.name(model), **look))
    axes.axline((1, 1), (2, 2), color=style.GREY, linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("the closed form: $f_L$ over ERM's")
    axes.set_title("all layers one map")


def _by_model(axes: Axes, rows: pd.DataFrame, colors: dict[str, str]) -> None:
    """Models in which every layer is a map of its own, side by side, and within each the data sets."""
    models = sorted(rows["model"].unique())
    apart = dict(zip(colors, np.linspace(-0.2, 0.2, len(colors) + 2)[1:-1], strict=True))
    for row in rows.itertuples():
        _point(axes, models.index(row.model) + apart[row.dataset], row, colors[row.dataset], "o")
    axes.axhline(1, color=style.GREY, linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(models)), [style.wrapped(style.name(model)) for model in models])
    axes.tick_params(axis="x", labelrotation=90)
    axes.set_title("every layer a map of its own")


def _point(axes: Axes, place: float, row: tuple, color: str, marker: str) -> None:
    middle = np.exp(row.paid)
    low, high = (np.nan_to_num(np.exp(float(end)), nan=middle) for end in (row.paid_low, row.paid_high))
    reach = [[middle - low], [high - middle]]
    hollow = {} if row.held == 1 else {"markerfacecolor": "none"}
    axes.errorbar(
        place, middle, yerr=reach, fmt=marker, color=color, markersize=3.2, linewidth=0.6, alpha=0.8, **hollow
    )
