"""Figure 2: how RMSE grows with the test noise, for every model and data set, both arms."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.summary import best_depth, cells_table, select
from descent.config import PATCH_MODELS, Params
from descent.figures.parts import curves, style

TITLE = "Robustness of video denoisers to test noise"
CAPTION = """
RMSE on held-out test clips against the test noise level, at the headline training level (vertical line).
Rows: models; columns: data sets. Each arm at its best depth by validation loss, feasible depths first for
the constrained arm (depths in the corner; ViT has one). Dotted: the noisy input itself, which may leave the
panel. ViT sees frames resized to its own images, and its error is measured on these: compare arms, not rows.
Hollow markers: the constrained run ended infeasible.
"""
PARAMETERS = [
    "eps",
    "video.datasets",
    "video.models",
    "video.tolerance",
    "profiles.${profile}.video.layers",
    "profiles.${profile}.video.vit",
    "evaluation.gammas",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, one panel per model and data set. Raises UserError without rows of eps."""
    datasets, models = params.video.datasets, params.video.models
    rows = curves.required(results, "evaluate_video", experiment="video", eps=float(params.eps))
    cells = cells_table(rows, params)
    best = best_depth(cells)
    height = 0.75 + 1.55 * len(models)
    figure, grid = style.panels(params, len(models), len(datasets), style.TEXT, height, sharex=True)
    for model, line in zip(models, grid, strict=True):
        for dataset, axes in zip(datasets, line, strict=True):
            for choice in select(best, dataset=dataset, model=model).itertuples():
                _draw_arm(axes, rows, cells, choice)
            if model in PATCH_MODELS:
                curves.draw_reference(axes, results, dataset, "identity")
            curves.mark_training_level(axes, params.eps)
        line[0].set_ylabel(f"{style.name(model)}\n{style.RMSE}")
    for dataset, top, bottom in zip(datasets, grid[0], grid[-1], strict=True):
        top.set_title(style.name(dataset))
        bottom.set_xlabel(style.GAMMA)
    style.legend(figure)
    return figure


def _draw_arm(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, choice: object) -> None:
    cell = {name: getattr(choice, name) for name in ("dataset", "model", "method", "layers")}
    points = curves.curve(rows, "gamma", "rmse", split="test", **cell)
    curves.draw(axes, points, choice.method, curves.state(cells, **cell))
    height = 0.05 if choice.method == "unconstrained" else 0.17
    axes.text(
        0.97,
        height,
        f"$L={choice.layers}$",
        transform=axes.transAxes,
        ha="right",
        color=style.COLORS[choice.method],
    )
