"""Figure 6: the arms on the causal language model, along the layers and under test noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.select import last_layer
from descent.analysis.summary import cells_table
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, scales, style

TASKS = ("lm",)
DATASET, MODEL = "alpaca", "causal_lm"  # the paper's
TITLE = "Layerwise descent and robustness of a causal language model"
CAPTION = """
Left: test cross-entropy (nats) of the response tokens as predicted from each layer by the shared final norm and
head, test noise equal to the training level, logarithmic scale; grey: the bound that the constraints imply,
R0 (1 - alpha)^l, l counted from the capped layer. Right: share of the response tokens that the last layer
predicts, the text before them given, against the noise on the embeddings of all tokens; vertical line: training
level. All arms see the same instructions and noise. Means over the seeds, of the largest depth. Hollow markers: a
run with constraints ended infeasible.
"""
PARAMETERS = [
    "lm.eps",
    "lm.tolerance",
    "lm.readout_layers",
    "lm.readout_tokens",
    "lm.evaluation.gammas",
    "comparison",
    "objectives.${ours}",
    "profiles.${profile}.lm",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """f_l (nats) against l; token accuracy against gamma. Raises UserError without rows of the language model."""
    dataset, model = curves.choice(params.lm, DATASET, MODEL)
    layers = max(params.model_budget(model)["layers"])
    eps = headline(params, "lm")
    setting = {"dataset": dataset, "model": model, "layers": layers, "eps": eps}
    rows = curves.required(results, "evaluate_lm", experiment="lm", **setting)
    cells = cells_table(rows, params)
    figure, ((loss, accuracy),) = style.panels(1, 2, style.TEXT, 2.6)
    for arm in params.arms:
        state = curves.state(cells, arm=arm)
        points = curves.curve(rows, "layer", "loss", split="test", gamma=eps, arm=arm)
        curves.draw(loss, points, arm, state, marker="o")
        points = curves.curve(last_layer(rows), "gamma", "accuracy", split="test", arm=arm)
        curves.draw(accuracy, points, arm, state, marker="o")
    curves.draw_bound(loss, params.problem(dataset, model), layers)
    curves.mark_training_level(accuracy, eps, 0.22)
    scales.logarithmic(loss)
    scales.percent(accuracy)
    loss.xaxis.get_major_locator().set_params(integer=True)
    where = f"{style.name(model)}, {style.name(dataset)}, $L={layers}$"
    loss.set(title=where, xlabel=style.LAYER, ylabel=style.LOSS)
    accuracy.set(title=where, xlabel=style.GAMMA, ylabel="token " + style.ACCURACY)
    style.legend(figure, columns=5)
    return figure
