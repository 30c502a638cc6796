"""A heat map of gains over the baseline under the shifts of a task: shift x level, a panel an arm and model."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import shift_estimates, shifts
from descent.analysis.select import select
from descent.analysis.wording import signed, unit_of
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, heat, style

FAINTER = 1.5  # the full colours are for so many times the gain that nine of ten stay below
LETTERS, WIDTH = 100, 44  # of the lines below all panels side by side, and at most below one
ROW, FOOT = 0.3, 1.1  # inches: of a shift, and of the rest of a panel


def render(results: pd.DataFrame, params: Params, task: str) -> Figure:
    """The map of a task's shifts but training's, of the cells of its headline training level.

    Raises UserError without rows under a shift.
    """
    unit = unit_of(task)
    named = shifts.others(params, task)
    models = params.section(task).models
    arms = [arm for arm in params.arms if arm != params.comparison.baseline]
    stage = f"evaluate_{task}"
    eps = headline(params, task)
    rows = curves.required(results, stage, experiment=task)
    for shift in named:
        curves.required(rows, stage, shift=shift, eps=eps)
    gains = select(shifts.gains(rows, params), eps=eps)
    cells = shifts.estimates(gains, ["model", "arm", "shift", "gamma"])
    estimates = select(shift_estimates.table(rows, params), experiment=task)
    means = select(estimates, shift=shift_estimates.ALL)
    reach = max(100 * float(cells["effect"].abs().quantile(0.9)), 1.0) if len(cells) else 1.0
    height = len(arms) * (FOOT + ROW * (len(named) + 1))
    figure, grid = style.panels(len(arms), len(models), style.TEXT, height, sharey=True)
    for arm, line in zip(arms, grid, strict=True):
        for model, axes in zip(models, line, strict=True):
            own = select(cells, arm=arm, model=model)
            _draw(axes, [_levels(select(own, shift=shift)) for shift in named], reach)
            _foot(axes, select(means, arm=arm, model=model), len(named), unit)
            axes.set_title(f"{style.name(model)}\n{style.name(arm)}")
            told = _silent(select(estimates, arm=arm, model=model))
            axes.set_xlabel(textwrap.fill(told, min(WIDTH, LETTERS // len(models))), fontsize=6.5)
        words = [_words(cells, shift, params) for shift in named]
        line[0].set_yticks(range(len(named) + 1), [*words, "mean"])
    than = style.name(params.comparison.baseline)
    sure = "slanted: the 95 % interval holds zero" if cells["low"].notna().any() else "one seed, so no intervals"
    figure.supxlabel(f"above zero: better than {than}, in {unit}; {sure}", x=0.01, ha="left", fontsize=7)
    return figure


def parameters(task: str) -> list[str]:
    """What of params.yaml stands beside the panels."""
    lists = ("datasets", "models", "evaluation.energies", "evaluation.shifts")
    own = [f"{task}.{name}" for name in lists]
    level = "eps" if task == "video" else f"{task}.eps"
    return [level, "arms", "comparison", *own, "shifts", f"profiles.${{profile}}.{task}"]


def left_out(params: Params, task: str) -> str:
    """Why there is nothing to show; empty where there is."""
    told = f"the shifts in use of {task} hold none but the noise of training"
    return "" if shifts.others(params, task) else told


def _levels(rows: pd.DataFrame) -> list[dict[str, float]]:
    """The gains with their intervals, from the lowest level to the highest."""
    return rows.sort_values("gamma")[["effect", "low", "high"]].to_dict("records")


def _draw(axes: Axes, table: list[list[dict[str, float]]], reach: float) -> None:
    """A coloured square with its number for every level; none where a shift has fewer levels than another.

    Slanted where its interval holds zero: a star beside the others would not fit the squares of four models.
    """
    width = max([1, *map(len, table)])
    values = np.full((len(table) + 1, width), np.nan)
    unsure = set()
    for row, own in enumerate(table):
        for column, level in enumerate(own):
            values[row, column] = 100 * level["effect"]
            if level["low"] <= 0 <= level["high"]:
                unsure.add((row, column))
    known = {place: signed(value) for place, value in np.ndenumerate(values) if np.isfinite(value)}
    heat.squares(axes, values, known, FAINTER * reach, slanted=unsure)
    axes.set_xticks([])


def _foot(axes: Axes, rows: pd.DataFrame, place: int, unit: str) -> None:
    """The mean with its interval; nothing where no seed is common to all settings."""
    for row in rows.dropna(subset="effect").to_dict("records"):
        middle, low, high = (100 * row[name] for name in ("effect", "low", "high"))
        beside = "" if np.isnan(low) else f" [{signed(low)}, {signed(high)}]"
        center = sum(axes.get_xlim()) / 2
        axes.text(center, place, f"{signed(middle)}{beside} {unit}", ha="center", va="center", fontsize=7)


def _silent(rows: pd.DataFrame) -> str:
    """The shifts that are no part of the mean, since they can tell no arm from the other."""
    names = [style.name(shift) for shift in select(rows, tells=False)["shift"] if shift != shift_estimates.ALL]
    if len(names) == len(rows) - 1:
        return "no shift tells the arms apart: the mean is of all"
    return f"not in the mean: {', '.join(names)}" if names else ""


def _words(cells: pd.DataFrame, shift: str, params: Params) -> str:
    """A shift's name over its levels."""
    levels = sorted(select(cells, shift=shift)["gamma"].unique())
    sign = r"$\gamma$ " if params.components["shifts"][shift]["ENERGY"] else ""
    return f"{style.name(shift)}\n{sign}{'  '.join(f'{level:g}' for level in levels)}"
