"""A heat map of gains over the baseline under the shifts of a task: shift x level, a panel an arm and model."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import shift_estimates, shifts
from descent.analysis.select import select
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

LOOK, FAINTER = "RdBu", 1.5  # the full colours are for so many times the gain that nine of ten stay below
ROW, FOOT = 0.3, 0.9  # inches: of a shift, and of the rest of a panel


def render(results: pd.DataFrame, params: Params, task: str, unit: str) -> Figure:
    """The map of a task's shifts but training's, of the cells of its headline training level.

    Args:
        unit: of a hundred times the gain (analysis.shifts).

    Raises UserError without rows under a shift.
    """
    named, models = shifts.others(params, task), getattr(params, task).models
    arms = [arm for arm in params.arms if arm != params.comparison.baseline]
    stage, eps = f"evaluate_{task}", headline(params, task)
    rows = curves.required(results, stage, experiment=task)
    for shift in named:
        curves.required(rows, stage, shift=shift, eps=eps)
    gains = select(shifts.gains(rows, params), eps=eps)
    cells = shifts.over_seeds(gains, ["model", "arm", "shift", "gamma"])
    means = select(shift_estimates.table(rows, params), experiment=task, shift=shift_estimates.ALL)
    reach = max(100 * float(cells["effect"].abs().quantile(0.9)), 1.0) if len(cells) else 1.0
    height = len(arms) * (FOOT + ROW * (len(named) + 1))
    figure, grid = style.panels(params, len(arms), len(models), style.TEXT, height, (task,), sharey=True)
    for arm, line in zip(arms, grid, strict=True):
        for model, axes in zip(models, line, strict=True):
            own = select(cells, arm=arm, model=model)
            _draw(axes, [_values(select(own, shift=shift)) for shift in named], reach)
            _foot(axes, select(means, arm=arm, model=model), len(named), unit)
            axes.set_title(f"{style.name(model)}\n{style.name(arm)}")
        words = [_words(cells, shift, params) for shift in named]
        line[0].set_yticks(range(len(named) + 1), [*words, "mean"])
    return figure


def left_out(params: Params, task: str) -> str:
    """Why there is nothing to show; empty where there is."""
    told = f"the shifts in use of {task} hold none but the noise of training"
    return "" if shifts.others(params, task) else told


def _values(rows: pd.DataFrame) -> list[float]:
    """A hundred times the gains, from the lowest level to the highest."""
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


def _foot(axes: Axes, rows: pd.DataFrame, place: int, unit: str) -> None:
    for row in rows.to_dict("records"):
        middle, low, high = (100 * row[name] for name in ("effect", "low", "high"))
        beside = "" if np.isnan(low) else f" [{low:+.1f}, {high:+.1f}]"
        center = sum(axes.get_xlim()) / 2
        axes.text(center, place, f"{middle:+.1f}{beside} {unit}", ha="center", va="center", fontsize=7)


def _words(cells: pd.DataFrame, shift: str, params: Params) -> str:
    """A shift's name over its levels."""
    levels = sorted(select(cells, shift=shift)["gamma"].unique())
    sign = r"$\gamma$ " if params.components["shifts"][shift]["ENERGY"] else ""
    return f"{style.name(shift)}\n{sign}{'  '.join(f'{level:g}' for level in levels)}"
