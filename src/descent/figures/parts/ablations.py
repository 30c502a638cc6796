"""What the figures of ablations share: a measure against the varied value, with its spread over seeds."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.select import CELL, last_layer, mean, select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, style, text_curves

ALPHA = r"required descent $\alpha$"
DUAL_LR = r"dual learning rate $\eta_\lambda$"


def cells_of(results: pd.DataFrame, params: Params, experiment: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of an ablation and one row per cell. Raises UserError where there are none."""
    rows = curves.required(results, "evaluate_ablation", experiment=experiment)
    return rows, cells_table(rows, params)


def accuracy_at(rows: pd.DataFrame, cells: pd.DataFrame, gamma: float) -> pd.DataFrame:
    """`cells` with the column `accuracy`: of the last layer on test texts at one test noise level."""
    points = mean(select(last_layer(rows), metric="accuracy", split="test", gamma=gamma))
    return cells.join(points.rename("accuracy"), on=CELL)


def over_seeds(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """By varied value: mean and sample standard deviation (0 for one seed) over seeds, and the state.

    A value one of whose seeds diverged, or has no number where other values have one, has no mean: a gap.
    """
    groups = cells.groupby("varied")
    table = groups[column].agg(["mean", "std", "count"])
    table["state"] = pd.Series({varied: curves.state(group) for varied, group in groups}, dtype=str)
    whole = (table["count"] == table["count"].max()) & (table["state"] != "diverged")
    table.loc[~whole, ["mean", "std"]] = float("nan")
    return table.assign(std=table["std"].where(table["mean"].isna(), table["std"].fillna(0.0)))


def draw(axes: Axes, cells: pd.DataFrame, column: str) -> None:
    """Both arms: the constrained one against the varied value, the unconstrained one, which has none, across.

    Hollow where a seed ended infeasible; a cross at the foot, instead of a mean, where one diverged.
    """
    table = over_seeds(select(cells, method="constrained"), column)
    table = table.set_axis(table.index.astype(float)).sort_index()
    if len(table) == 1:  # nothing to take the width of the scale from
        value = table.index[0]
        axes.set_xlim(value - 0.5 * (value or 1.0), value + 0.5 * (value or 1.0))
    look = {"color": style.COLORS["constrained"]}
    curves.draw(axes, table["mean"], "constrained", marker="o")
    axes.errorbar(table.index, table["mean"], table["std"], fmt="none", capsize=2.5, elinewidth=0.9, **look)
    for state, marker in (("infeasible", "o"), ("diverged", "x")):
        points = table[table["state"] == state]
        if len(points):
            look |= {"marker": marker, "markerfacecolor": "white", "linestyle": "none", "zorder": 3}
            place = {"transform": axes.get_xaxis_transform()} if state == "diverged" else {}
            heights = [0.04] * len(points) if place else points["mean"]
            axes.plot(points.index, heights, label=f"constrained ({state})", **look, **place)
    _draw_reference(axes, over_seeds(select(cells, method="unconstrained"), column))
    axes.set_xticks(table.index, [f"{value:g}" for value in table.index])
    axes.minorticks_off()
    axes.grid(visible=False, axis="x")
    style.percent(axes)


def _draw_reference(axes: Axes, reference: pd.DataFrame) -> None:
    look = {"color": style.COLORS["unconstrained"]}
    if (reference["state"] == "diverged").any():
        curves.draw(axes, pd.Series(dtype=float), "unconstrained", "diverged")
    for middle, spread in reference[["mean", "std"]].dropna().itertuples(index=False):
        axes.axhline(middle, linestyle=style.DASHES["unconstrained"], label="unconstrained", zorder=1.5, **look)
        axes.axhspan(middle - spread, middle + spread, alpha=0.15, linewidth=0, **look)


def title(params: Params) -> str:
    """The setting in which all ablations vary their value."""
    asked = params.ablation
    return rf"{style.name(asked.model)}, {style.name(asked.dataset)}, $\epsilon={asked.eps:g}$"


def draw_three_levels(results: pd.DataFrame, params: Params, experiment: str, label: str, scale: str) -> Figure:
    """Accuracy at the lowest, middle and highest test noise of the sweep against the varied value."""
    rows, cells = cells_of(results, params, experiment)
    levels = sorted(set(map(float, params.text.evaluation.gammas)))
    levels = sorted({levels[0], levels[len(levels) // 2], levels[-1]})
    figure, grid = style.panels(params, 1, len(levels), style.TEXT, 2.4, text_curves.TASKS, sharey=True)
    for gamma, axes in zip(levels, grid[0], strict=True):
        axes.set_xscale(scale)
        draw(axes, accuracy_at(rows, cells, gamma), "accuracy")
        axes.set(title=rf"test noise $\gamma={gamma:g}$", xlabel=label)
    grid[0][0].set_ylabel(f"{title(params)}\n{style.ACCURACY}")
    style.legend(figure)
    return figure
