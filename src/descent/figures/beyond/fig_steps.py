"""Not in the paper: what constrained models pay and gain, beside the longest step that they take."""

from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from descent.analysis import controls
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Price and gain beside the longest step"
CAPTION = r"""
Ours, not the paper's. A point is a constrained cell of the grid or of a study of video, of a model whose layers
are steps of descent on the error of reconstruction (DUST and UT). Across: the longest of its steps,
$\Vert D_l\Vert^2/c$; beyond 1 a step goes past what it aims at, beyond 2 such steps diverge. Up, in percent of
ln RMSE against plain training of the same setting and seed: the price, what it errs more up to the noise of
training (left), and the gain, what it errs less above it (right). Hollow: its constraints do not hold on
validation data. Cells that diverged are not shown.
"""
PARAMETERS = ["eps", "arms", "comparison", "studies", "models", "objectives.${ours}", "profiles.${profile}.video"]
PRICE, GAIN = "price up to the noise of training, %", "gain above it, %"
NONE = "no model in use takes such steps"

left_out = curves.without_constraints


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A panel each for price and gain. Raises UserError without rows of video."""
    curves.required(results, "evaluate_video", experiment="video")
    cells = shown(controls.trained_cells(results, params), params)
    figure, [(price, gain)] = style.panels(1, 2, style.TEXT, 3.0)
    depths = dict(zip(sorted(cells["layers"].unique()), cycle(style.PALETTE), strict=False))
    for marker, (place, own) in zip(cycle(style.MARKERS), cells.groupby(["dataset", "model"]), strict=False):
        for row in own.itertuples():
            look = {"marker": marker, "color": depths[row.layers], "alpha": 0.8}
            look |= {} if row.holds else {"markerfacecolor": "none"}
            price.plot(row.longest_step, -100 * row.gain_in, **look)
            gain.plot(row.longest_step, 100 * row.gain_out, **look)
        _named(price, f"{style.name(place[1])}, {style.name(place[0])}", style.GREY, marker)
    for depth, color in depths.items():
        _named(price, f"$L$ = {depth}", color, "o")
    for axes, label in ((price, PRICE), (gain, GAIN)):
        axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
        axes.axvline(1, color=style.GREY, linewidth=0.8, linestyle=style.DOTTED, zorder=0)
        axes.set_xlabel("longest step")
        axes.set_ylabel(label)
    style.legend(figure, columns=4)
    return figure


def lacking(results: pd.DataFrame, params: Params) -> str:
    """Why the data leave nothing to show; empty where they have something."""
    return "" if (results["metric"] == "step_length").any() else NONE


def shown(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of controls.trained_cells the constrained ones of video that have a longest step and a baseline cell, and
    did not diverge, with `holds`, whether they are feasible on validation data."""
    own = select(cells, arm=params.comparison.ours)
    own = own[own["gain_out"].notna() & own["longest_step"].notna() & ~truth(own["diverged"])]
    return own.assign(holds=truth(own["feasible"]))


def _named(axes: Axes, label: str, color: str, marker: str) -> None:
    axes.add_line(Line2D([], [], marker=marker, linestyle="none", color=color, label=label))
