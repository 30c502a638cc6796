"""Not in the paper: test data under other shifts than the noise of training."""

from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.select import TRAINED, select
from descent.analysis.summary import best_depth, cells_table
from descent.config import Params
from descent.figures.parts import curves, remarks, style

TITLE = "Robustness to shifts that training has not seen"
CAPTION = """
Ours, not the paper's. RMSE on held-out test clips against the level of each shift of video.evaluation.shifts that
is not the noise of training; cells of the headline training level, each arm at the depth that Figure 2 shows,
chosen on validation data under the noise of training. Rows: models, a block for every shift; columns: data sets.
Dotted: the input as it is after the shift, which may leave the panel. Hollow markers: a run with constraints ended
infeasible.
"""
PARAMETERS = [
    "eps",
    "arms",
    "video.datasets",
    "video.models",
    "video.evaluation.shifts",
    "shifts",
    "video.tolerance",
    "profiles.${profile}.video",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against the level, a panel per shift, model and data set. Raises UserError without rows."""
    datasets, blocks = params.video.datasets, list(product(others(params), params.video.models))
    rows = curves.required(results, "evaluate_video", experiment="video", eps=float(params.eps))
    cells = cells_table(rows, params)
    best = best_depth(cells)
    shape = (len(blocks), len(datasets), style.TEXT, 0.75 + 1.6 * len(blocks))
    figure, grid = style.panels(params, *shape)
    for (shift, model), line in zip(blocks, grid, strict=True):
        curves.required(rows, "evaluate_video", shift=shift, model=model)
        for dataset, axes in zip(datasets, line, strict=True):
            chosen = select(best, dataset=dataset, model=model)
            for arm in params.arms:
                for layers in select(chosen, arm=arm)["layers"]:
                    _draw_arm(axes, rows, cells, shift, dataset=dataset, model=model, arm=arm, layers=layers)
            maps = {"names": ("identity",), "experiment": "video", "shift": shift}
            curves.draw_references(axes, results, dataset, model, **maps)
            axes.set_xlabel(f"level of {style.name(shift)}")
        line[0].set_ylabel(f"{style.name(model)}\n{style.RMSE}")
    for dataset, top in zip(datasets, grid[0], strict=True):
        top.set_title(style.name(dataset))
    style.legend(figure)
    return figure


def others(params: Params) -> list[str]:
    """The shifts of the evaluation that are not the noise of training."""
    return [shift for shift in params.video.evaluation.shifts if shift != TRAINED]


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if others(params) else "video.evaluation.shifts has no shift but the noise of training"


def remarks_on(params: Params) -> list[str]:
    """What must be read with it."""
    return remarks.frames(params) + remarks.capacity(params, params.video.models)


def _draw_arm(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, shift: str, **cell: object) -> None:
    points = curves.curve(rows, "gamma", "rmse", split="test", shift=shift, **cell)
    curves.draw(axes, points, cell["arm"], curves.state(cells, **cell), marker="o")
