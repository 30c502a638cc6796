"""Figure 4: how accuracy falls with the test noise, for every text model and data set, all arms."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, scales, style, text_curves

TASKS = text_curves.TASKS
TITLE = "Robustness of text classifiers to test noise"
CAPTION = """
Accuracy on test texts against the test noise level on the word embeddings, at the headline training level
(vertical line). Rows: data sets; columns: models. Line: each arm at its best depth and trial by validation
loss, or at the mean over seeds where none are trials of a search (L in the title, in the order of the legend
where the arms differ); band: mean and standard deviation over all trials of that depth. Dotted: chance. Hollow
markers: a run with constraints ended infeasible.
"""
PARAMETERS = [
    "text.eps",
    "arms",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.search",
    "text.evaluation.gammas",
    "profiles.${profile}.text",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy (share) against gamma, one panel per model and data set. Raises UserError without rows of eps."""
    datasets, models = params.text.datasets, params.text.models
    eps = headline(params, "text")
    rows = curves.required(results, "evaluate_text", experiment="text", eps=eps)
    cells = cells_table(rows, params)
    best = best_text(cells, params)
    height = 0.75 + 1.75 * len(datasets)
    look = {"sharex": True, "sharey": "row"}
    figure, grid = style.panels(len(datasets), len(models), style.TEXT, height, **look)
    for dataset, line in zip(datasets, grid, strict=True):
        for model, axes in zip(models, line, strict=True):
            chosen = select(best, dataset=dataset, model=model)
            for choice in chosen.itertuples():
                text_curves.draw_accuracy(axes, rows, cells, choice, params)
            text_curves.draw_chance(axes, params, dataset)
            curves.mark_training_level(axes, eps, text_curves.LOW)
            axes.set_title(f"{style.name(model)}, {style.name(dataset)}, {curves.depths(chosen)}")
        line[0].set_ylabel(style.ACCURACY)
        scales.percent(line[0])
    for axes in grid[-1]:
        axes.set_xlabel(style.GAMMA)
    style.legend(figure)
    return figure
