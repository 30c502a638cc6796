"""Figure 11: a run asked for more than it can give, beside its unconstrained twin."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "What an infeasible constraint does"
CAPTION = """
A cell whose constraints cannot be met (section `infeasible` of params.yaml) beside its unconstrained
twin. Left: RMSE against the test noise level, with the noisy input and the output of a model that gives
only zeros. Middle: validation loss along the layers at the training level, and the bound asked for.
Right: how far each constraint of the constrained run is missed, relative (the cap to R0, a descent to the
loss of the layer before); at most zero where satisfied. Hollow markers: ended infeasible.
"""
PARAMETERS = [
    "infeasible.dataset",
    "infeasible.model",
    "infeasible.layers",
    "infeasible.eps",
    "infeasible.seed",
    "infeasible.primal_dual",
    "video.tolerance",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Three panels: RMSE (0-255), layer losses, violations. Raises UserError without the cell's rows."""
    rows = curves.required(results, "evaluate_infeasible", experiment="infeasible")
    cells = cells_table(rows, params)
    asked = params.infeasible
    bound = params.constraints(asked.model, asked.primal_dual)
    figure, ((rmse, loss, violation),) = style.panels(params, 1, 3, style.TEXT, 2.3)
    for method in params.video.methods:
        mark = curves.state(cells, method=method)
        curves.draw(rmse, curves.curve(rows, "gamma", "rmse", split="test", method=method), method, mark)
        losses = curves.curve(rows, "layer", "validation_loss", method=method)
        curves.draw(loss, losses, method, mark, marker="o")
    rmse.margins(y=0.2)
    for reference in ("identity", "zero"):
        curves.draw_reference(rmse, results, asked.dataset, reference)
    curves.mark_training_level(rmse, asked.eps)
    curves.draw_bound(loss, bound.R0, bound.alpha, bound.cap_layer, asked.layers)
    _draw_violations(violation, rows)
    where = f"{style.name(asked.model)}, {style.name(asked.dataset)}, $L={asked.layers}$"
    rmse.set(xlabel=style.GAMMA, ylabel=style.RMSE, title=where)
    loss.set(xlabel=style.LAYER, ylabel=style.LOSS.replace("test", "validation"), title="layer losses")
    loss.set_yscale("log")
    style.legend(figure, columns=5)
    return figure


def _draw_violations(axes: Axes, rows: pd.DataFrame) -> None:
    points = curves.curve(rows, "layer", "violation", method="constrained")
    axes.bar(points.index, points.to_numpy(), color=style.COLORS["constrained"], width=0.7)
    axes.axhline(0, color="black", linewidth=0.6)
    if points.max() > 3:  # a missed cap can be a hundred times its bound while descents stay below one
        axes.set_yscale("symlog", linthresh=1)
    axes.set(xlabel=style.LAYER, ylabel="relative violation ↓", title="constrained: violations")
