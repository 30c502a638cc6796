"""Figure 2: how RMSE grows with the test noise, for every model and data set, all arms."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.select import select
from descent.analysis.summary import SETTING, best_depth, cells_table
from descent.config import Params
from descent.figures.parts import curves, remarks, style

TITLE = "Robustness of video denoisers to test noise"
CAPTION = """
RMSE on held-out test clips against the test noise level, at the headline training level (vertical line). Rows:
models; columns: data sets. Each arm at its best depth by validation loss, of an arm with constraints feasible
depths first (L above a panel, in the order of the legend where the arms differ). Grey: maps that learn nothing, on
the same inputs: the noisy input itself and a black image, which may leave the panel, and two classical filters,
measured on video.evaluation.classical_frames of the test frames. The filters are told the noise level gamma and
see whole frames; patch models see neither. Where the arms of `comparison` differ in capacity, the ratio of their
trained weights stands beside L, ours first. Hollow markers: a run with constraints ended infeasible.
"""
PARAMETERS = [
    "eps",
    "arms",
    "comparison",
    "video.datasets",
    "video.models",
    "video.tolerance",
    "profiles.${profile}.video",
    "video.evaluation.gammas",
    "video.evaluation.classical_frames",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, one panel per model and data set. Raises UserError without rows of eps."""
    datasets, models = params.video.datasets, params.video.models
    rows = curves.required(results, "evaluate_video", experiment="video", eps=float(params.eps))
    cells = cells_table(rows, params)
    best = best_depth(cells)
    height = 0.85 + 1.55 * len(models)
    figure, grid = style.panels(params, len(models), len(datasets), style.TEXT, height, sharex=True)
    for model, line in zip(models, grid, strict=True):
        for dataset, axes in zip(datasets, line, strict=True):
            chosen = select(best, dataset=dataset, model=model)
            for choice in chosen.itertuples():
                _draw_arm(axes, rows, cells, choice)
            axes.set_title(curves.depths(chosen) + _capacity(cells, chosen, params), loc="right")
            curves.draw_references(axes, select(results, experiment="video"), dataset, model)
            curves.mark_training_level(axes, params.eps)
        line[0].set_ylabel(f"{style.name(model)}\n{style.RMSE}")
    for dataset, top, bottom in zip(datasets, grid[0], grid[-1], strict=True):
        top.set_title(f"{style.name(dataset)}\n")  # above the line of the depths and of the capacity
        bottom.set_xlabel(style.GAMMA)
    style.legend(figure)
    return figure


def remarks_on(params: Params) -> list[str]:
    """What must be read with it."""
    return remarks.frames(params) + remarks.capacity(params, params.video.models)


def _draw_arm(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, choice: object) -> None:
    cell = {name: getattr(choice, name) for name in ("dataset", "model", "arm", "layers")}
    points = curves.curve(rows, "gamma", "rmse", split="test", **cell)
    curves.draw(axes, points, choice.arm, curves.state(cells, **cell))


def _capacity(cells: pd.DataFrame, chosen: pd.DataFrame, params: Params) -> str:
    """The ratio of the trained weights of the two arms of the comparison where it is not one, for a title."""
    numbers = cells.merge(chosen[[*SETTING, "layers"]])[["arm", "parameters"]].dropna().drop_duplicates()
    ours, theirs = (select(numbers, arm=arm)["parameters"].tolist() for arm in curves.pair(params))
    if len(ours) != 1 or len(theirs) != 1 or ours == theirs:
        return ""
    return f", weights {ours[0] / theirs[0]:.3g} : 1"
