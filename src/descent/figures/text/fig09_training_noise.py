"""Figure 9: what the training noise does, against test noise and along the layers."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from descent.analysis.select import last_layer, select
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.config import Params
from descent.figures.parts import curves, scales, style, text_curves

TASKS = text_curves.TASKS
DATASET, MODEL = "imdb", "distilbert"  # the paper's
TITLE = "Training noise, robustness and layerwise error"
CAPTION = """
One text model at every training level, the two arms of `comparison`; light to dark: low to high. Left: accuracy
on test texts against the test noise level; dotted: chance. Right: error rate (1 - accuracy) of what the shared
readout says at each layer, test noise equal to the training level. Each arm and level at the mean over seeds
or, where they are trials of a search, at its best trial (and depth) by validation loss. Hollow markers: a run
with constraints ended infeasible.
"""
PARAMETERS = [
    "text.eps",
    "comparison",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.text.eps",
    "profiles.${profile}.text.seeds",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy against gamma; error rate against l. Raises UserError without rows of the setting."""
    dataset, model = curves.choice(params.text, DATASET, MODEL)
    rows = curves.required(results, "evaluate_text", experiment="text", dataset=dataset, model=model)
    cells = cells_table(rows, params)
    best = best_text(cells[cells["arm"].isin(params.comparison.arms)], params)
    levels, one = sorted(best["eps"].unique().tolist()), best["layers"].nunique() == 1
    figure, ((accuracy, error),) = style.panels(1, 2, style.TEXT, 2.3 + 0.06 * len(levels))
    for arm in params.comparison.arms:
        accuracy.add_line(Line2D([], [], linestyle="none", label=style.name(arm)))  # heads its part of the legend
        for step, eps in enumerate(levels):
            for choice in select(best, arm=arm, eps=eps).itertuples():
                depth = "" if one else f", $L={choice.layers}$"  # of a search every level has its own
                look = {"color": style.shade(arm, step, len(levels)), "label": rf"$\epsilon={eps:g}$" + depth}
                cell = text_curves.shown(choice, params)
                mark = curves.state(cells, **cell)
                points = curves.curve(last_layer(rows), "gamma", "accuracy", split="test", **cell)
                curves.draw(accuracy, points, arm, mark, **look)
                right = curves.curve(rows, "layer", "accuracy", split="test", gamma=eps, **cell)
                curves.draw(error, 1 - right, arm, mark, **look)
    text_curves.draw_chance(accuracy, params, dataset)
    for axes in (accuracy, error):
        depth = f", {curves.depths(best)}" if one else ""
        axes.set_title(f"{style.name(model)}, {style.name(dataset)}{depth}")
        scales.percent(axes)
    error.xaxis.get_major_locator().set_params(integer=True)
    accuracy.set(xlabel=style.GAMMA, ylabel=style.ACCURACY)
    error.set(xlabel=style.LAYER, ylabel=r"error rate at $\gamma=\epsilon$ ↓")
    figure.legend(*accuracy.get_legend_handles_labels(), loc="outside right center", labelspacing=0.3)
    return figure
