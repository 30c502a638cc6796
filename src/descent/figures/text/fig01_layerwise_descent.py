"""Figure 1: the arms on one text model, along the layers and under test noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, scales, style, text_curves

TASKS = text_curves.TASKS
DATASET, MODEL = "imdb", "roberta"  # the paper's
TITLE = "Layerwise descent and robustness of a text classifier"
CAPTION = """
Left: test cross-entropy (nats) of what the shared readout says at each layer, at the headline training level,
test noise equal to it, logarithmic scale; grey: the bound that the constraints imply, R0 (1 - alpha)^l counted
from the capped layer. Right: accuracy on test texts against the test noise level; vertical line: training
level; dotted: chance; band: mean and standard deviation over the trials. Each arm at its best trial (and depth)
by validation loss, or at the mean over seeds where none are trials of a search; depths in the order of the
legend where they differ. Hollow markers: a run with constraints ended infeasible.
"""
PARAMETERS = [
    "text.eps",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.evaluation.gammas",
    "comparison",
    "objectives.${ours}",
    "profiles.${profile}.text.seeds",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """f_l (nats) against l; accuracy against gamma. Raises UserError without rows of the setting."""
    dataset, model = curves.choice(params.text, DATASET, MODEL)
    eps = headline(params, "text")
    setting = {"experiment": "text", "dataset": dataset, "model": model, "eps": eps}
    rows = curves.required(results, "evaluate_text", **setting)
    cells = cells_table(rows, params)
    best = best_text(cells, params)
    figure, ((loss, accuracy),) = style.panels(1, 2, style.TEXT, 2.6)
    for choice in best.itertuples():
        cell = text_curves.shown(choice, params)
        points = curves.curve(rows, "layer", "loss", split="test", gamma=eps, **cell)
        curves.draw(loss, points, choice.arm, curves.state(cells, **cell), marker="o")
        text_curves.draw_accuracy(accuracy, rows, cells, choice, params)
    curves.draw_bound(loss, params.problem(dataset, model), int(best["layers"].max()))
    text_curves.draw_chance(accuracy, params, dataset)
    curves.mark_training_level(accuracy, eps, text_curves.LOW)
    scales.logarithmic(loss)
    scales.percent(accuracy)
    loss.xaxis.get_major_locator().set_params(integer=True)
    where = f"{style.name(model)}, {style.name(dataset)}, {curves.depths(best)}"
    loss.set(title=where, xlabel=style.LAYER, ylabel=style.LOSS)
    accuracy.set(title=where, xlabel=style.GAMMA, ylabel=style.ACCURACY)
    style.legend(figure, columns=5)
    return figure
