"""What the figures of studies share: a measure against the varied value, with its spread over seeds."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.keys import CELL
from descent.analysis.select import TRAINED, last_layer, mean, select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, scales, style
from descent.study import Study

LABELS = {"alpha": r"required descent $\alpha$", "dual_lr": r"dual learning rate $\eta_\lambda$"}


def cells_of(results: pd.DataFrame, params: Params, study: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a study and one row per cell. Raises UserError where there are none."""
    rows = curves.required(results, "evaluate_studies", experiment=study)
    return rows, cells_table(rows, params)


def label(study: Study) -> str:
    """What is varied, for an axis."""
    return LABELS.get(study.vary, study.vary)


def left_out(params: Params, name: str) -> str:
    """Why a study has no axis to be drawn against; empty where what it varies are numbers."""
    words = [word for word in params.studied(name).variants() if not _is_number(word)]
    return f"the study {name} varies no number: {', '.join(words) or 'nothing'}" if words else ""


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def accuracy_at(rows: pd.DataFrame, cells: pd.DataFrame, gamma: float) -> pd.DataFrame:
    """`cells` with the column `accuracy`: of the last layer on test texts at one test noise level."""
    points = mean(select(last_layer(rows), shift=TRAINED, metric="accuracy", split="test", gamma=gamma))
    return cells.join(points.rename("accuracy"), on=CELL)


def by_value(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """By varied value: mean and sample standard deviation (0 for one seed) over seeds, and the state.

    A value one of whose seeds diverged, or has no number where other values have one, has no mean: a gap.
    """
    groups = cells.groupby("varied")
    table = groups[column].agg(["mean", "std", "count"])
    table["state"] = pd.Series({varied: curves.state(group) for varied, group in groups}, dtype=str)
    whole = (table["count"] == table["count"].max()) & (table["state"] != "diverged")
    table.loc[~whole, ["mean", "std"]] = float("nan")
    return table.assign(std=table["std"].where(table["mean"].isna(), table["std"].fillna(0.0)))


def draw(axes: Axes, cells: pd.DataFrame, column: str, study: Study) -> None:
    """The study's arm against the varied value, and across the arms beside it, which have none.

    Hollow where a seed ended infeasible; a cross at the foot, instead of a mean, where one diverged.
    """
    table = by_value(cells[(cells["arm"] == study.arm) & (cells["varied"] != "")], column)
    table = table.set_axis(table.index.astype(float)).sort_index()
    if len(table) == 1:  # nothing to take the width of the scale from
        value = table.index[0]
        axes.set_xlim(value - 0.5 * (value or 1.0), value + 0.5 * (value or 1.0))
    look = {"color": style.color(study.arm)}
    curves.draw(axes, table["mean"], study.arm, marker="o")
    axes.errorbar(table.index, table["mean"], table["std"], fmt="none", capsize=2.5, elinewidth=0.9, **look)
    for state, marker in (("infeasible", "o"), ("some infeasible", "o"), ("diverged", "x")):
        points = table[table["state"] == state]
        if len(points):
            look |= {"marker": marker, "markerfacecolor": "white", "linestyle": "none", "zorder": 3}
            place = {"transform": axes.get_xaxis_transform()} if state == "diverged" else {}
            heights = [0.04] * len(points) if place else points["mean"]
            axes.plot(points.index, heights, label=f"{style.name(study.arm)} ({state})", **look, **place)
    for arm in study.beside:
        _draw_across(axes, by_value(select(cells, arm=arm, varied=""), column), arm)
    axes.set_xticks(table.index, [f"{value:g}" for value in table.index])
    axes.minorticks_off()
    axes.grid(visible=False, axis="x")
    scales.percent(axes)


def _draw_across(axes: Axes, reference: pd.DataFrame, arm: str) -> None:
    look = {"color": style.color(arm)}
    if (reference["state"] == "diverged").any():
        curves.draw(axes, pd.Series(dtype=float), arm, "diverged")
    for middle, spread in reference[["mean", "std"]].dropna().itertuples(index=False):
        axes.axhline(middle, linestyle=style.dashes(arm), label=style.name(arm), zorder=1.5, **look)
        axes.axhspan(middle - spread, middle + spread, alpha=0.15, linewidth=0, **look)


def title(study: Study) -> str:
    """The setting in which a study varies its value."""
    return rf"{style.name(study.model)}, {style.name(study.dataset)}, $\epsilon={study.eps:g}$"


def draw_three_levels(results: pd.DataFrame, params: Params, name: str, scale: str) -> Figure:
    """Accuracy at the lowest, middle and highest test noise of the sweep against the varied value of a study."""
    study = params.studied(name)
    rows, cells = cells_of(results, params, name)
    levels = sorted(set(map(float, params.text.evaluation.gammas)))
    levels = sorted({levels[0], levels[len(levels) // 2], levels[-1]})
    figure, grid = style.panels(1, len(levels), style.TEXT, 2.4, sharey=True)
    for gamma, axes in zip(levels, grid[0], strict=True):
        axes.set_xscale(scale)
        draw(axes, accuracy_at(rows, cells, gamma), "accuracy", study)
        axes.set(title=rf"test noise $\gamma={gamma:g}$", xlabel=label(study))
    grid[0][0].set_ylabel(f"{title(study)}\n{style.ACCURACY}")
    style.legend(figure)
    return figure
