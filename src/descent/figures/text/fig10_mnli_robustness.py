"""Figure 10: the uneven effect of the constraints on MNLI, at every training level."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.config import Params
from descent.figures.parts import curves, scales, style, text_curves

TASKS = text_curves.TASKS
DATASET, MODELS = "mnli", ("ut_text", "distilbert")  # the paper's
TITLE = "Robustness on MNLI at every training level"
CAPTION = """
Accuracy on test texts against the test noise level. Rows: models; columns: training levels (vertical line).
Line: each arm of `comparison` at its best depth and trial by validation loss, or at the mean over seeds where
none are trials; band: mean and standard deviation over all trials of that depth. Dotted: chance. Hollow
markers: a run with constraints ended infeasible.
"""
PARAMETERS = [
    "text.eps",
    "comparison",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.text",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy against gamma, a panel per model and level. Raises UserError without rows of the data set."""
    dataset, first = curves.choice(params.text, DATASET, MODELS[0])
    models = [model for model in MODELS if model in params.text.models] or [first]
    rows = curves.required(results, "evaluate_text", experiment="text", dataset=dataset)
    cells = cells_table(rows, params)
    best = best_text(cells[cells["arm"].isin(params.comparison.arms)], params)
    levels = sorted(best["eps"].unique().tolist())
    look = {"sharex": True, "sharey": "row"}
    size = (style.TEXT, 0.9 + 1.5 * len(models))
    figure, grid = style.panels(len(models), len(levels), *size, **look)
    for model, line in zip(models, grid, strict=True):
        for eps, axes in zip(levels, line, strict=True):
            for choice in select(best, model=model, eps=eps).itertuples():
                text_curves.draw_accuracy(axes, rows, cells, choice, params)
            text_curves.draw_chance(axes, params, dataset)
            curves.mark_training_level(axes, eps, text_curves.LOW)
        line[0].set_ylabel(f"{style.name(model)}, {style.name(dataset)}\n{style.ACCURACY}")
        scales.percent(line[0])
    for eps, top, bottom in zip(levels, grid[0], grid[-1], strict=True):
        top.set_title(rf"$\epsilon={eps:g}$")
        bottom.set_xlabel(r"test noise $\gamma$")
    style.legend(figure)
    return figure
