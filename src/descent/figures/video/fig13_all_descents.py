"""Figure 13: how the loss runs along the layers over all training settings at once."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.keys import CELL
from descent.analysis.lost import truth
from descent.analysis.select import TRAINED, select
from descent.analysis.summary import cells_table, first_constrained
from descent.config import Params
from descent.figures.parts import curves, scales, style

DEPTH = np.linspace(0, 1, 41)
ROOM = 0.3  # of the logarithmic scale, below all curves, for the counts
TASKS = ("video", "text")
TITLE = "Descent over all training settings"
CAPTION = """
Validation loss along the layers, of every video cell (upper row; squared error) and every text cell (lower row;
cross-entropy) of all data sets, depths, training levels and seeds or trials, divided by the cell's loss at its
first constrained layer. Horizontal: depth between that layer (0) and the last (1), straight between layers on
this scale. Thick: median over cells; band: from the 10th to the 90th percentile; thin: single cells. In the
corner: how many cells descend at every layer. Infeasible cells are included; one that diverged has no line, and
counts as one that does not descend.
"""
PARAMETERS = [
    "video.datasets",
    "video.models",
    "profiles.${profile}.video",
    "comparison",
    "objectives.${ours}",
    "text.datasets",
    "text.models",
    "text.eps",
    "profiles.${profile}.text",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Normalised f_l against relative depth, a panel per model. Raises UserError without layer losses."""
    models = {task: params.section(task).models for task in params.tasks if task in TASKS}
    figure = style.sheet(style.TEXT, 0.4 + 1.9 * len(models))
    grid = figure.add_gridspec(len(models), math.lcm(*map(len, models.values())))
    for line, (task, names) in enumerate(models.items()):
        wanted = {"experiment": task, "metric": "validation_loss", "shift": TRAINED}
        required = curves.required(results, f"evaluate_{task}", **wanted)
        rows = select(results, experiment=task)
        cells = cells_table(rows, params)
        sound = cells.loc[~truth(cells["diverged"]), CELL]
        normalised = _normalised(required.merge(sound), first_constrained(rows))
        width = grid.ncols // len(names)
        first = None
        for place, model in enumerate(names):
            spot = grid[line, place * width : (place + 1) * width]
            axes = figure.add_subplot(spot, sharey=first)
            first = first or axes
            _draw_model(axes, select(normalised, model=model), select(cells, model=model), params)
            axes.set(title=style.wrapped(f"{style.name(model)}, {task}"), xlabel="relative depth")
            axes.tick_params(labelleft=axes is first)
        low, high = first.get_ylim()
        first.set_ylim(low * (low / high) ** ROOM, high)
        first.set_ylabel("loss / loss at the first\nconstrained layer ↓")
    style.legend(figure)
    return figure


def _draw_model(axes: Axes, normalised: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    for place, arm in enumerate(params.arms):
        _draw_band(axes, select(normalised, arm=arm), arm)
        _count(axes, select(cells, arm=arm), arm, place)
    scales.logarithmic(axes)


def _normalised(losses: pd.DataFrame, first: pd.Series) -> pd.DataFrame:
    """One row per cell: its identity and, by relative depth, its loss over the first constrained layer's."""
    rows = []
    for cell, by_layer in losses.join(first.rename("first"), on=CELL).groupby(CELL):
        points = by_layer[by_layer["layer"] >= by_layer["first"]].sort_values("layer")
        if len(points) > 1 and points["value"].gt(0).all():
            depth = (points["layer"] - points["layer"].iloc[0]) / np.ptp(points["layer"])
            values = np.exp(np.interp(DEPTH, depth, np.log(points["value"] / points["value"].iloc[0])))
            rows.append([*cell, *values])
    return pd.DataFrame(rows, columns=[*CELL, *DEPTH])


def _draw_band(axes: Axes, cells: pd.DataFrame, arm: str) -> None:
    if cells.empty:
        return
    values = cells[DEPTH].to_numpy(dtype=float)
    color = style.color(arm)
    strength = min(0.25, 8 / len(values))  # hundreds of lines would hide the median
    axes.plot(DEPTH, values.T, color=color, linewidth=0.4, alpha=strength)
    low, middle, high = np.percentile(values, [10, 50, 90], axis=0)
    axes.fill_between(DEPTH, low, high, color=color, alpha=0.18, linewidth=0)
    curves.draw(axes, pd.Series(middle, index=DEPTH), arm, linewidth=2.0)


def _count(axes: Axes, cells: pd.DataFrame, arm: str, place: int) -> None:
    known = cells["descending"].dropna()
    if known.empty:
        return
    text = f"{int(known.sum())} of {len(known)} descend"
    axes.text(0.03, 0.04 + 0.09 * place, text, transform=axes.transAxes, color=style.color(arm))
