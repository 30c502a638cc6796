"""Not in the paper: what constrained models pay and gain, beside the longest step that they take."""

from itertools import chain, cycle

import numpy as np
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
validation data. Cells that diverged are not shown. Below, where it was measured, by how much the two parts of
the error are larger than plain training's: the bias, what another draw of the noise leaves of it (at the noise of
training), and the variance, what it moves (at the largest noise tested).
"""
PARAMETERS = ["eps", "arms", "comparison", "studies", "models", "objectives.${ours}", "profiles.${profile}.video"]
SHOWN = {
    "price": "price up to the noise of training, %",
    "gain": "gain above it, %",
    "bias": r"more bias at $\epsilon$, %",
    "variance": r"more variance at the largest $\gamma$, %",
}
PARTS = {"bias": "bias_at_eps", "variance": "variance_at_most"}
NONE = "no model in use takes such steps"

left_out = curves.without_constraints


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A panel each for price and gain, and for both parts of the error where they were measured. Raises UserError
    without rows of video."""
    curves.required(results, "evaluate_video", experiment="video")
    cells = shown(controls.trained_cells(results, params), params)
    told = {name: label for name, label in SHOWN.items() if name not in PARTS or cells[name].notna().any()}
    figure, grid = style.panels(len(told) // 2, 2, style.TEXT, 1.5 * len(told))
    panels = dict(zip(told, chain(*grid), strict=True))
    depths = dict(zip(sorted(cells["layers"].unique()), cycle(style.PALETTE), strict=False))
    for marker, (place, own) in zip(cycle(style.MARKERS), cells.groupby(["dataset", "model"]), strict=False):
        for row in own.itertuples():
            look = {"marker": marker, "color": depths[row.layers], "alpha": 0.8}
            look |= {} if row.holds else {"markerfacecolor": "none"}
            for name, axes in panels.items():
                axes.plot(row.longest_step, 100 * getattr(row, name), **look)
        _named(grid[0][0], f"{style.name(place[1])}, {style.name(place[0])}", style.GREY, marker)
    for depth, color in depths.items():
        _named(grid[0][0], f"$L$ = {depth}", color, "o")
    for name, axes in panels.items():
        axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
        axes.axvline(1, color=style.GREY, linewidth=0.8, linestyle=style.DOTTED, zorder=0)
        axes.set_xlabel("longest step")
        axes.set_ylabel(told[name])
    style.legend(figure, columns=4)
    return figure


def lacking(results: pd.DataFrame, params: Params) -> str:
    """Why the data leave nothing to show; empty where they have something."""
    return "" if (results["metric"] == "step_length").any() else NONE


def shown(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of controls.trained_cells the constrained ones of video that have a longest step and a baseline cell, and
    did not diverge, with `holds`, whether they are feasible on validation data, and what SHOWN names, in units of
    ln of a ratio to the baseline cell."""
    own = select(controls.beside_baseline(cells, [*PARTS.values()], params), arm=params.comparison.ours)
    own = own[own["gain_out"].notna() & own["longest_step"].notna() & ~truth(own["diverged"])]
    ratios = {name: own[part] / own[f"{part}_baseline"] for name, part in PARTS.items()}
    more = {name: np.log(ratio.where(ratio > 0)) for name, ratio in ratios.items()}  # the zero map has no variance
    return own.assign(holds=truth(own["feasible"]), price=-own["gain_in"], gain=own["gain_out"], **more)


def _named(axes: Axes, label: str, color: str, marker: str) -> None:
    axes.add_line(Line2D([], [], marker=marker, linestyle="none", color=color, label=label))
