"""Figure 2: how RMSE grows with the test noise, for every model and data set, all arms; how far two are apart."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from descent.analysis.differences import video_gains
from descent.analysis.evidence import Evidence
from descent.analysis.keys import CURVE
from descent.analysis.select import select
from descent.analysis.summary import best_depth, cells_table
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, remarks, style

TITLE = "Robustness of video denoisers to test noise"
CAPTION = """
RMSE on held-out test clips against the test noise level, at the headline training level (vertical line). Rows:
models; columns: data sets. Each arm at its best depth by validation loss, of an arm with constraints feasible
depths first (L above a panel, in the order of the legend where the arms differ). Grey: maps that learn nothing, on
the same inputs: the noisy input itself, a black image and the mean of an input's frames (of models that see
several), any of which may leave the panel, and two classical filters,
measured on video.evaluation.classical_frames of the test frames. The filters are told the noise level gamma and
see whole frames; patch models see neither. Where the arms of `comparison` differ in capacity, the ratio of their
trained weights stands beside L, ours first. Hollow markers: runs with constraints ended infeasible, some or all.
Below, the difference of the arms of `comparison`: by how many percent of log-RMSE ours errs less (right of the
line) or more, over the swept levels above and up to the training level; the trimmed mean over depths and the mean
over seeds of pairs of one depth, with its 95 % interval over seeds and test clips, which one seed does not have.
"""
PARAMETERS = [
    "eps",
    "arms",
    "comparison",
    "video.datasets",
    "video.models",
    "video.tolerance",
    "video.evaluation.bootstrap",
    "profiles.${profile}.video",
    "video.evaluation.gammas",
    "video.evaluation.classical_frames",
]
remarks_on = remarks.of_video
SIDES = {
    "out_of": ("o", r"gain at equal depth, $\gamma > \epsilon$"),
    "in": ("s", r"at equal depth, $\gamma \leq \epsilon$"),
}


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, a panel per model and data set; below, the arms' difference by data set.

    Raises UserError without rows of eps.
    """
    datasets, models = params.video.datasets, params.video.models
    eps = headline(params, "video")
    rows = curves.required(results, "evaluate_video", experiment="video", eps=eps)
    cells = cells_table(rows, params)
    best = best_depth(cells)
    gains = video_gains(Evidence(select(results, experiment="video"), params))
    heights = [1.55] * len(models) + [0.55 + 0.2 * len(models)] * (len(gains) > 0)
    figure = style.sheet(style.TEXT, 0.85 + sum(heights))
    grid = figure.subplots(len(heights), len(datasets), squeeze=False, height_ratios=heights).tolist()
    for model, line in zip(models, grid, strict=False):
        for dataset, axes in zip(datasets, line, strict=True):
            chosen = select(best, dataset=dataset, model=model)
            for choice in chosen.itertuples():
                _draw_arm(axes, rows, cells, choice)
            axes.set_title(curves.depths(chosen) + _capacity(cells, chosen, params), loc="right")
            curves.draw_references(axes, select(results, experiment="video"), dataset, model)
            curves.mark_training_level(axes, eps)
        line[0].set_ylabel(f"{style.name(model)}\n{style.RMSE}")
    for column, dataset in enumerate(datasets):
        panels = [line[column] for line in grid[: len(models)]]
        panels[0].set_title(f"{style.name(dataset)}\n")  # above the line of the depths and of the capacity
        for axes in panels[:-1]:
            axes.sharex(panels[-1])
            axes.tick_params(labelbottom=False)
        panels[-1].set_xlabel(style.GAMMA)
        if len(gains):
            _draw_gains(grid[-1][column], select(gains, dataset=dataset), params, named=column == 0)
    style.legend(figure)
    return figure


def _draw_arm(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, choice: object) -> None:
    cell = {name: getattr(choice, name) for name in ("dataset", "model", "arm", "layers")}
    points = curves.curve(rows, "gamma", "rmse", split="test", **cell)
    curves.draw(axes, points, choice.arm, curves.state(cells, **cell))


def _draw_gains(axes: Axes, gains: pd.DataFrame, params: Params, named: bool) -> None:
    """The difference of the arms with its interval, a line for each model and a marker for each side of eps."""
    models = params.video.models
    [ours, baseline] = params.comparison.arms
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    for offset, (where, (marker, label)) in zip((-0.16, 0.16), SIDES.items(), strict=True):
        own = select(gains, where=where)
        value, low, high = (100 * own[name].to_numpy(float) for name in ("gain", "low", "high"))
        places = [models.index(model) + offset for model in own["model"]]
        look = {"color": style.color(ours), "markerfacecolor": style.color(ours) if where == "out_of" else "white"}
        axes.errorbar(
            value,
            places,
            xerr=[value - low, high - value],
            fmt=marker,
            capsize=2,
            markersize=3.4,
            label=label,
            **look,
        )
    axes.set_yticks(range(len(models)), map(style.name, models) if named else [""] * len(models))
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_xlabel(f"gain over {style.name(baseline)} (%)")


def _capacity(cells: pd.DataFrame, chosen: pd.DataFrame, params: Params) -> str:
    """The ratio of the trained weights of the two arms of the comparison where it is not one, for a title."""
    numbers = cells.merge(chosen[[*CURVE, "layers"]])[["arm", "parameters"]].dropna().drop_duplicates()
    ours, theirs = (select(numbers, arm=arm)["parameters"].tolist() for arm in params.comparison.arms)
    if len(ours) != 1 or len(theirs) != 1 or ours == theirs:
        return ""
    return f", weights {ours[0] / theirs[0]:.3g} : 1"
