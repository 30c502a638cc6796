"""The curves that figures share: RMSE against test noise, loss against layer, and how they are drawn."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from descent.analysis.summary import measured, select
from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import style


def curve(results: pd.DataFrame, by: str, metric: str, **cell: Any) -> pd.Series:
    """One metric of the matching cells against `gamma` or `layer`, averaged over seeds; empty where absent.

    A seed that lacks a point would shift the mean there, so such points are left out: a gap, not a guess.
    """
    rows = measured(select(results, metric=metric, **cell))
    points = rows.groupby(by)["value"].agg(["mean", "size"])
    return points.loc[points["size"] == points["size"].max(), "mean"]


def required(results: pd.DataFrame, stage: str, **cell: Any) -> pd.DataFrame:
    """The matching rows. Raises UserError, naming the stage that makes them, where there are none."""
    rows = select(results, **cell)
    if rows.empty:
        sought = ", ".join(f"{column} {value}" for column, value in cell.items())
        raise UserError(f"the results hold no rows of {sought}: run `dvc repro` (stage {stage} makes them)")
    return rows


def state(cells: pd.DataFrame, **cell: Any) -> str:
    """What a reader must know of the matching cells: "diverged", "infeasible" (constrained arm) or ""."""
    rows = select(cells, **cell)
    if rows["diverged"].fillna(False).any():
        return "diverged"
    asked = rows["method"] == "constrained"
    return "infeasible" if not rows.loc[asked, "feasible"].fillna(False).all() else ""


def paper_choice(params: Params) -> tuple[str, str]:
    """The data set and model of the paper's single-setting figures, UCSD and DUST, or the first in use."""
    video = params.video
    dataset = "ucsd" if "ucsd" in video.datasets else video.datasets[0]
    return dataset, "dust" if "dust" in video.models else video.models[0]


def draw(axes: Axes, points: pd.Series, method: str, marked: str = "", **look: Any) -> None:
    """Plot one curve, solid or dashed by method; hollow where infeasible, crosses where diverged.

    A run that left no number to draw still has its entry in the legend when something is to be told of it.
    """
    if points.empty and not marked:
        return
    look = {"color": style.COLORS[method], "linestyle": style.DASHES[method], "label": method} | look
    if marked:
        look["label"] += f" ({marked})"
        look |= {"marker": "x"} if marked == "diverged" else {"marker": "o", "markerfacecolor": "white"}
    axes.plot(points.index, points.to_numpy(), **look)


def draw_reference(axes: Axes, results: pd.DataFrame, dataset: str, reference: str) -> None:
    """The RMSE of the identity map (what no denoising gives) or the zero map (what a collapsed model gives).

    To be drawn after all curves of axes that share a scale: they rule it, this line may leave the panel.
    """
    points = curve(results, "gamma", "rmse", dataset=dataset, model=reference, method="reference")
    limits = axes.get_ylim()
    dashes = style.DASHES["reference"] if reference == "identity" else "-."
    draw(axes, points, "reference", label=style.name(reference), linestyle=dashes, linewidth=1.0)
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


def draw_bound(axes: Axes, R0: float, alpha: float, cap_layer: int, layers: int) -> None:
    """What the constraints imply together: f_l <= R0 (1 - alpha)^(l - cap layer)."""
    index = range(cap_layer, layers + 1)
    bound = pd.Series([R0 * (1 - alpha) ** (layer - cap_layer) for layer in index], index=index)
    draw(axes, bound, "reference", label="implied bound", linestyle="-", linewidth=0.8, zorder=1)
