"""Figure 11: a run asked for more than it can give, beside twins of which that is not asked."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.cells import study_depth
from descent.config import Params
from descent.figures.parts import curves, style

STUDY = "infeasible"
TITLE = "What an infeasible constraint does"
CAPTION = """
A cell whose constraints cannot be met (study.infeasible of params.yaml) beside its unconstrained
twin. Left: RMSE against the test noise level, with the noisy input and the output of a model that gives
only zeros. Middle: validation loss along the layers at the training level, and the bound asked for.
Right: how far each constraint of the constrained run is missed, relative (the cap to R0, a descent to the
loss of the layer before); at most zero where satisfied. Hollow markers: ended infeasible.
"""
PARAMETERS = ["study.infeasible", "profiles.${profile}.studies.infeasible", "video.tolerance"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Three panels: RMSE (0-255), layer losses, violations. Raises UserError without the cell's rows."""
    study = params.studied(STUDY)
    rows = curves.required(results, "evaluate_studies", experiment=STUDY)
    cells = cells_table(rows, params)
    layers = study_depth(params, study)
    figure, ((rmse, loss, violation),) = style.panels(1, 3, style.TEXT, 2.3)
    for arm in (study.arm, *study.beside):
        mark = curves.state(cells, arm=arm)
        curves.draw(rmse, curves.curve(rows, "gamma", "rmse", split="test", arm=arm), arm, mark)
        losses = curves.curve(rows, "layer", "validation_loss", arm=arm)
        curves.draw(loss, losses, arm, mark, marker="o")
    rmse.margins(y=0.2)
    maps = {"names": curves.UNSKILLED, "experiment": "video"}
    curves.draw_references(rmse, results, study.dataset, study.model, **maps)
    curves.mark_training_level(rmse, study.eps)
    curves.draw_bound(loss, params.problem(study.dataset, study.model, study.common, study.arm), layers)
    _draw_violations(violation, rows, study.arm)
    where = f"{style.name(study.model)}, {style.name(study.dataset)}, $L={layers}$"
    rmse.set(xlabel=style.GAMMA, ylabel=style.RMSE, title=where)
    loss.set(xlabel=style.LAYER, ylabel=style.LOSS.replace("test", "validation"), title="layer losses")
    loss.set_yscale("log")
    style.legend(figure, columns=5)
    return figure


def _draw_violations(axes: Axes, rows: pd.DataFrame, arm: str) -> None:
    points = curves.curve(rows, "layer", "violation", arm=arm, split="validation")
    axes.bar(points.index, points.to_numpy(), color=style.color(arm), width=0.7)
    axes.axhline(0, color="black", linewidth=0.6)
    if points.max() > 3:  # a missed cap can be a hundred times its bound while descents stay below one
        axes.set_yscale("symlog", linthresh=1)
    axes.set(xlabel=style.LAYER, ylabel="relative violation ↓", title=f"{style.name(arm)}: violations")
