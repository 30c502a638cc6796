"""Figure 6: the two arms on the causal language model, along the layers and under test noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.select import last_layer
from descent.analysis.summary import cells_table
from descent.cells import LM
from descent.config import Params
from descent.figures.parts import curves, style

TASKS = ("lm",)
TITLE = "Layerwise descent and robustness of a causal language model"
CAPTION = """
Left: test cross-entropy (nats) of the response tokens as predicted from each layer by the shared final norm and
head, test noise equal to the training level, logarithmic scale; grey: the bound that the constraints imply,
R0 (1 - alpha)^l. Right: share of the response tokens that the last layer predicts, the text before them given,
against the noise on the embeddings of all tokens; vertical line: training level. Both arms see the same
instructions and noise. Means over the seeds. Hollow markers: the constrained run ended infeasible.
"""
PARAMETERS = [
    "lm.eps",
    "lm.tolerance",
    "lm.readout_layers",
    "lm.readout_tokens",
    "lm.evaluation.gammas",
    "primal_dual.causal_lm",
    "profiles.${profile}.lm",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """f_l (nats) against l; token accuracy against gamma. Raises UserError without rows of the language model."""
    rows = curves.required(results, "evaluate_lm", experiment="lm", eps=float(params.lm.eps))
    cells = cells_table(rows, params)
    figure, ((loss, accuracy),) = style.panels(params, 1, 2, style.TEXT, 2.6, TASKS)
    for method in params.lm.methods:
        cell = {"experiment": "lm", "method": method}
        state = curves.state(cells, **cell)
        points = curves.curve(rows, "layer", "loss", split="test", gamma=float(params.lm.eps), **cell)
        curves.draw(loss, points, method, state, marker="o")
        points = curves.curve(last_layer(rows), "gamma", "accuracy", split="test", **cell)
        curves.draw(accuracy, points, method, state, marker="o")
    asked, layers = params.lm_constraints(), params.budget.lm.layers
    curves.draw_bound(loss, asked.R0, asked.alpha, asked.cap_layer, layers)
    curves.mark_training_level(accuracy, params.lm.eps, 0.22)
    style.logarithmic(loss)
    style.percent(accuracy)
    loss.xaxis.get_major_locator().set_params(integer=True)
    where = f"{style.name(LM[1])}, {style.name(LM[0])}, $L={layers}$"
    loss.set(title=where, xlabel=style.LAYER, ylabel=style.LOSS)
    accuracy.set(title=where, xlabel=style.GAMMA, ylabel="token " + style.ACCURACY)
    style.legend(figure, columns=5)
    return figure
