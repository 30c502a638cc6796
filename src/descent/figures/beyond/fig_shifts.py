"""Not in the paper: by how much each arm is better than the baseline under shifts that training has not seen."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import shifts
from descent.analysis.select import select
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, remarks, style

TITLE = "Robustness to shifts that training has not seen"
CAPTION = """
Ours, not the paper's. 100 ln(RMSE of the baseline / RMSE of the arm), so about the percent by which the arm's
error is smaller (blue) or larger (red), on held-out test clips under each shift in use that is not the noise of
training; cells of the headline training level; mean over data sets, depths and seeds. Columns: the shift's levels
in the order written under its name. Where these are called gamma, the strength is the one at which the input as
it is errs as under Gaussian noise of that level. Last row: the mean over the levels, then over the shifts, with
Student's 95 % interval over seeds where there are several. Empty: the shift does not fit the model's inputs.
"""
PARAMETERS = [
    "eps",
    "arms",
    "comparison",
    "video.datasets",
    "video.models",
    "video.evaluation.energies",
    "video.evaluation.shifts",
    "shifts",
    "profiles.${profile}.video",
]
LOOK, FAINTER = "RdBu", 1.5  # the full colours are for so many times the gain that nine of ten stay below
ROW, FOOT = 0.3, 0.9  # inches: of a shift, and of the rest of a panel


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A heat map of gains, shift x level, for each arm but the baseline and each model.

    Raises UserError without rows under a shift.
    """
    named, models = shifts.others(params, "video"), params.video.models
    arms = [arm for arm in params.arms if arm != params.comparison.baseline]
    rows = curves.required(results, "evaluate_video", experiment="video", eps=headline(params, "video"))
    gains = shifts.gains(rows, params)
    for shift in named:
        curves.required(rows, "evaluate_video", shift=shift)
    cells = shifts.over_seeds(gains, ["model", "arm", "shift", "gamma"])
    means = shifts.over_seeds(gains, ["model", "arm"])
    reach = max(100 * float(cells["effect"].abs().quantile(0.9)), 1.0) if len(cells) else 1.0
    height = len(arms) * (FOOT + ROW * (len(named) + 1))
    figure, grid = style.panels(params, len(arms), len(models), style.TEXT, height, sharey=True)
    for arm, line in zip(arms, grid, strict=True):
        for model, axes in zip(models, line, strict=True):
            own = select(cells, arm=arm, model=model)
            _draw(axes, [_values(select(own, shift=shift)) for shift in named], reach)
            _foot(axes, select(means, arm=arm, model=model), len(named))
            axes.set_title(f"{style.name(model)}\n{style.name(arm)}")
        words = [_words(cells, shift, params) for shift in named]
        line[0].set_yticks(range(len(named) + 1), [*words, "mean"])
    return figure


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    if len(params.arms) < 2:
        return "arms names no arm beside the baseline"
    return (
        "" if shifts.others(params, "video") else "the shifts in use of video hold none but the noise of training"
    )


def remarks_on(params: Params) -> list[str]:
    """What must be read with it."""
    return remarks.frames(params) + remarks.capacity(params, params.video.models)


def _values(rows: pd.DataFrame) -> list[float]:
    """Gains in percent, from the lowest level to the highest."""
    return (100 * rows.sort_values("gamma")["effect"]).tolist()


def _draw(axes: Axes, table: list[list[float]], reach: float) -> None:
    """A coloured square with its number for every level; none where a shift has fewer levels than another."""
    width = max([1, *map(len, table)])
    values = np.full((len(table) + 1, width), np.nan)
    for row, own in enumerate(table):
        values[row, : len(own)] = own
    edges = [np.arange(count + 1) - 0.5 for count in reversed(values.shape)]
    axes.pcolormesh(*edges, np.ma.masked_invalid(values), cmap=LOOK, vmin=-FAINTER * reach, vmax=FAINTER * reach)
    axes.set_ylim(len(values) - 0.5, -0.5)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "white" if abs(value) > 0.7 * FAINTER * reach else "black"
            axes.text(column, row, f"{value:+.1f}", ha="center", va="center", fontsize=7, color=ink)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for edge in ("left", "bottom"):
        axes.spines[edge].set_visible(False)


def _foot(axes: Axes, rows: pd.DataFrame, place: int) -> None:
    for row in rows.to_dict("records"):
        middle, low, high = (100 * row[name] for name in ("effect", "low", "high"))
        beside = "" if np.isnan(low) else f" [{low:+.1f}, {high:+.1f}]"
        center = sum(axes.get_xlim()) / 2
        axes.text(center, place, f"{middle:+.1f}{beside} %", ha="center", va="center", fontsize=7)


def _words(cells: pd.DataFrame, shift: str, params: Params) -> str:
    """A shift's name over its levels."""
    levels = sorted(select(cells, shift=shift)["gamma"].unique())
    sign = r"$\gamma$ " if params.components["shifts"][shift]["ENERGY"] else ""
    return f"{style.name(shift)}\n{sign}{'  '.join(f'{level:g}' for level in levels)}"
