"""Not in the paper: what our arm gains over the baseline, by how long both were trained."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from descent import components
from descent.analysis import epochs
from descent.analysis.keys import SETTING
from descent.analysis.wording import number_of, unit_of
from descent.config import Params
from descent.figures.parts import curves, scales, style

TASKS = components.TASKS
TITLE = "What more training leaves of the gain"
CAPTION = """
Ours, not the paper's. Left: what our arm gains over the baseline of `comparison`, by the number of epochs for
which both were trained (each time anew, the learning rate falling to zero at its own end): mean over the swept
test noise levels of ln(RMSE of the baseline / RMSE of our arm), of texts and language models the difference of
accuracies. Filled: levels above the training level; hollow: levels up to it. Bars: Student's 95 % interval over
seeds, the same at every number of epochs; a seed of which a cell diverged at any is in none. Right: f_L of both
arms on validation data, a mean over the same seeds. A gain that shrinks while f_L falls is one of when training
stops.
"""
PARAMETERS = ["arms", "comparison", "studies"]
BESIDE = {"gain_out": 1.02, "gain_in": 0.98}  # so that bars at one number of epochs lie side by side
POINTS = {"gain_out": ("o", "test noise above training"), "gain_in": ("s", "up to it")}


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Gains beside losses, a row per setting; words where none is. Raises UserError without rows of a study."""
    curves.required(results, "evaluate_studies", profile=params.profile)
    for name in epochs.studies(params):
        curves.required(results, "evaluate_studies", experiment=name)
    if why := left_out(params):
        return style.empty(why)
    settings = list(epochs.table(results, params).groupby(SETTING))
    figure, grid = style.panels(len(settings), 2, style.TEXT, 2.4 * len(settings))
    for ((dataset, model, layers, eps), rows), (gains, losses) in zip(settings, grid, strict=True):
        rows = rows.set_index(epochs.EPOCHS)
        _gains(gains, rows, params)
        for arm, ending in zip(params.comparison.arms, ("ours", "baseline"), strict=True):
            curves.draw(losses, rows[f"validation_loss_{ending}"].dropna(), arm, marker="o")
        scales.logarithmic(losses)
        place = f"{style.name(model)}, {style.name(dataset)}"
        unit = unit_of(params.task_of(model))
        gains.set(title=rf"{place}, $L={layers}$, $\epsilon={eps:g}$", ylabel=f"gain of our arm, {unit} ↑")
        losses.set(
            title=f"last layer, {number_of(int(rows['seeds'].iloc[0]), 'seed')}", ylabel=r"$f_L$, validation ↓"
        )
        for axes in (gains, losses):
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticks(rows.index, [f"{number:,}" for number in rows.index])
            axes.set_xlabel("epochs")
    style.legend(figure)
    return figure


def _gains(axes: Axes, rows: pd.DataFrame, params: Params) -> None:
    """Both gains with their intervals against the number of epochs, which grows by factors."""
    look = {"color": style.color(params.comparison.ours), "capsize": 2.5, "elinewidth": 0.9}
    axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=1)
    for column, (marker, words) in POINTS.items():
        own = 100 * rows.dropna(subset=column)[[column, f"{column}_low", f"{column}_high"]]
        bars = [own[column] - own[f"{column}_low"], own[f"{column}_high"] - own[column]]
        face = style.color(params.comparison.ours) if column == "gain_out" else "white"
        dashes = "-" if column == "gain_out" else ":"
        drawn = look | {"fmt": marker, "linestyle": dashes, "mfc": face, "label": words}
        axes.errorbar(own.index * BESIDE[column], own[column], bars, **drawn)


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if epochs.studies(params) else "no study in use trains the grid's cells for another number of epochs"
