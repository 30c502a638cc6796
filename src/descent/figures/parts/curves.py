"""The curves that figures share: a metric against test noise or layer, and how it is drawn."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from descent.analysis.lost import truth
from descent.analysis.select import TRAINED, average, measured, select
from descent.cells import REFERENCES, headline
from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import style
from descent.primal_dual.problem import Problem
from descent.schema import Schema

# The settings of the paper's figures, by task: its Figures 7, 1 and 6.
DATASETS = {"video": "ucsd", "text": "imdb", "lm": "alpaca"}
MODELS = {"video": "dust", "text": "roberta", "lm": "causal_lm"}
UNSKILLED = ("identity", "zero")  # references that denoise nothing: their lines may leave the panel


def curve(results: pd.DataFrame, by: str, metric: str, **cell: Any) -> pd.Series:
    """One metric of the matching cells against `gamma`, `layer` or `bin`, averaged over seeds; empty where absent.

    It is of the noise of training, unless `cell` names another shift. A seed that lacks a point would shift the
    mean there, so such points are left out: a gap, not a guess.

    Raises:
        UserError: the matching rows differ in more than `by` and the seed.
    """
    rows = measured(select(results, **{"shift": TRAINED, "metric": metric} | cell))
    points = average(rows, [by], over=("seed",))
    seeds = rows.groupby(by).size()
    return points[seeds == seeds.max()]


def required(results: pd.DataFrame, stage: str, **cell: Any) -> pd.DataFrame:
    """The matching rows. Raises UserError, naming the stage that makes them, where there are none."""
    rows = select(results, **cell)
    if rows.empty:
        sought = ", ".join(f"{column} {value}" for column, value in cell.items())
        raise UserError(f"the results hold no rows of {sought}: run `dvc repro` (stage {stage} makes them)")
    return rows


def state(cells: pd.DataFrame, **cell: Any) -> str:
    """What a reader must know of the matching cells: "diverged" (one did), "infeasible" (all that have constraints
    are), "some infeasible", or ""."""
    rows = select(cells, **cell)
    if truth(rows["diverged"]).any():
        return "diverged"
    missed = truth(rows["infeasible"])
    return "infeasible" if len(missed) and missed.all() else "some infeasible" if missed.any() else ""


def all_lost(results: pd.DataFrame, params: Params, task: str) -> str:
    """Why a task has no rows under another shift; empty where some cell of its headline level did not diverge."""
    told = select(results, experiment=task, eps=headline(params, task), metric="diverged")["value"]
    return f"every cell of {task} at the headline training level diverged" if len(told) and told.all() else ""


def without_constraints(params: Params) -> str:
    """Why the theory bounds nothing here; empty where an arm in use holds its cells to constraints."""
    return "" if params.enforcing else "no arm in use holds its cells to constraints"


def choice(section: Schema, dataset: str, model: str) -> tuple[str, str]:
    """The data set and model of one of the paper's figures, as of `in_use`."""
    return in_use(dataset, section.datasets), in_use(model, section.models)


def in_use(wanted: str, names: Sequence[str]) -> str:
    """The data set or model of one of the paper's figures; of those in use, `names`, the first where it is not."""
    return wanted if wanted in names else names[0]


def of_setting(model: str, dataset: str, layers: int) -> str:
    """A title in two lines, since with the model in the same one those of three panels meet."""
    return f"{style.name(model)}\n{style.name(dataset)}, $L={layers}$"


def depths(best: pd.DataFrame) -> str:
    """The depth of the chosen cells of one data set, model and level; that of every arm where they differ."""
    by_arm = best.drop_duplicates("arm").sort_values("arm", key=lambda arms: arms.map(style.ARMS))["layers"]
    shown = [by_arm.iloc[0]] if by_arm.nunique() == 1 else by_arm
    return f"$L={'/'.join(map(str, shown))}$" if len(by_arm) else ""


def draw(axes: Axes, points: pd.Series, arm: str, marked: str = "", **look: Any) -> None:
    """Plot one curve in the arm's colour and dashes; hollow where infeasible, crosses where diverged.

    A run that left no number to draw still has its entry in the legend when something is to be told of it.
    """
    if points.empty and not marked:
        return
    look = {"color": style.color(arm), "linestyle": style.dashes(arm), "label": style.name(arm)} | look
    if marked:
        look["label"] += f" ({marked})"
        look |= {"marker": "x"} if marked == "diverged" else {"marker": "o", "markerfacecolor": "white"}
    axes.plot(points.index, points.to_numpy(), **look)


def draw_references(
    axes: Axes, results: pd.DataFrame, dataset: str, model: str, names: tuple[str, ...] = (), **cell: Any
) -> None:
    """The RMSE of maps that learn nothing (all of them, or those of `names`), on the inputs of one model.

    To be drawn after all curves of axes that share a scale: they and the filters rule it.
    """
    for unskilled in (False, True):
        limits = axes.get_ylim()
        for name in REFERENCES:
            if name in (names or REFERENCES) and (name in UNSKILLED) == unskilled:
                points = curve(results, "gamma", "rmse", dataset=dataset, model=model, arm=name, **cell)
                inside = points.between(*limits).any()
                draw(axes, points if inside or not unskilled else points.iloc[:0], name, linewidth=1.0)
        if unskilled:
            axes.set_ylim(limits)


def mark_training_level(axes: Axes, eps: float, height: float = 0.97) -> None:
    """A thin vertical line at the training level: left of it in distribution, right of it out of it.

    `height`: of its name, as a share of the panel's, where no curve passes.
    """
    axes.axvline(eps, color="#999999", linewidth=0.8, zorder=0.5)
    axes.annotate(
        r"$\epsilon$",
        (eps, height),
        xytext=(2, 0),
        textcoords="offset points",
        xycoords=("data", "axes fraction"),
        va="top",
    )


def draw_bound(axes: Axes, constraints: Problem | None, layers: int) -> None:
    """What the constraints imply together: f_l <= R0 (1 - alpha)^(l - cap layer). Nothing where there are none."""
    if constraints is None:
        return
    index = range(constraints.cap_layer, layers + 1)
    bound = [constraints.R0 * (1 - constraints.alpha) ** (layer - constraints.cap_layer) for layer in index]
    axes.plot(index, bound, label="implied bound", color=style.GREY, linewidth=0.8, zorder=1)
