"""Figure 13: how the loss runs along the layers over all training settings at once."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.figures import curves, style
from descent.params import Params
from descent.summary import CELL, cells_table, first_constrained, select

DEPTH = np.linspace(0, 1, 41)
TITLE = "Descent over all training settings"
CAPTION = """
Validation loss along the layers, of every video cell (all data sets, depths, training levels and seeds),
divided by the cell's loss at its first constrained layer. Horizontal: depth between that layer (0) and
the last (1), straight between layers on this scale. Thick: median over cells; band: from the 10th to the
90th percentile; thin: single cells. In the corner: how many cells descend at every layer. Infeasible
cells are included; diverged ones are not.
"""
PARAMETERS = [
    "video.datasets",
    "video.models",
    "profiles.${profile}.video.layers",
    "profiles.${profile}.video.eps",
    "profiles.${profile}.video.seeds",
    "primal_dual.ut.cap_layer",
    "primal_dual.dust.cap_layer",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Normalised f_l against relative depth, a panel per model. Raises UserError without layer losses."""
    rows = curves.required(results, "evaluate_video", experiment="video", metric="validation_loss")
    video = select(results, experiment="video")
    cells = cells_table(video, params)
    sound = cells.loc[~cells["diverged"].fillna(False), CELL]
    normalised = _normalised(rows.merge(sound), first_constrained(video))
    models = params.video.models
    figure, grid = style.panels(params, 1, len(models), style.TEXT, 2.5, sharey=True)
    for model, axes in zip(models, grid[0], strict=True):
        for place, method in enumerate(params.video.methods):
            _draw_band(axes, select(normalised, model=model, method=method), method)
            _count(axes, select(cells, model=model, method=method), method, place)
        axes.set(title=style.name(model), xlabel="relative depth")
        style.logarithmic(axes)
    grid[0][0].set_ylabel("loss / loss at the first\nconstrained layer ↓")
    style.legend(figure)
    return figure


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


def _draw_band(axes: Axes, cells: pd.DataFrame, method: str) -> None:
    if cells.empty:
        return
    values, color = cells[DEPTH].to_numpy(dtype=float), style.COLORS[method]
    axes.plot(DEPTH, values.T, color=color, linewidth=0.4, alpha=0.25)
    low, middle, high = np.percentile(values, [10, 50, 90], axis=0)
    axes.fill_between(DEPTH, low, high, color=color, alpha=0.18, linewidth=0)
    curves.draw(axes, pd.Series(middle, index=DEPTH), method, linewidth=2.0)


def _count(axes: Axes, cells: pd.DataFrame, method: str, place: int) -> None:
    known = cells["descending"].dropna()
    text = f"{int(known.sum())} of {len(known)} descend"
    axes.text(0.03, 0.05 + 0.1 * place, text, transform=axes.transAxes, color=style.COLORS[method])
