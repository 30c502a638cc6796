"""Not in the paper: what one gets by stopping at a layer, or by going on, against the layers that this takes."""

from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from descent.analysis.results import FURTHER
from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_trial, seeds_are_trials
from descent.cells import headline, study_depth
from descent.config import Params
from descent.figures.parts import curves, scales, style

MEASURES = {  # by task: what is measured at every layer, its words, how near the last layer counts as there
    "video": ("rmse_layer", style.RMSE, 0.05),
    "text": ("accuracy", style.ACCURACY, 0.01),
    "lm": ("accuracy", "token accuracy ↑", 0.01),
}
TASKS = tuple(MEASURES)
COLUMNS = 4
NEAR = {"marker": "o", "markersize": 6.5, "linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 1.4}
ON = {"linestyle": ":", "linewidth": 1.2}
SHALLOW = {"marker": "D", "markersize": 3.6, "linestyle": "none", "markerfacecolor": "white"}
TITLE = "What one gets by stopping early, or by going on"
CAPTION = """
Ours, not the paper's. Test error (video: RMSE on one batch spread over the test set) or accuracy (text,
language model) of what the readout makes of each layer's output, test noise at the training level, against the
layers computed. All layers of a model cost the same, so these are the compute spent but for what comes on top
wherever one stops, and is not counted: the embedding, and the readout, once (of the language model its head, a
product with the whole vocabulary). A panel for every model in use at its largest depth, at the headline training
level and, where the grid trains without noise, without; and for every study in use that compares several arms as
they are (the controls).
Rings: the first layer from which on all are within 5 % of the error, or one point of the accuracy, of the last.
Dots beyond the last layer: where all layers are one map, what it makes of its own output, applied as often again
as in training; an error that goes on falling there had not arrived at the last layer. Diamonds: the last layer of
a model of the same arm trained with so few layers. Means over seeds or, where they are trials of a search, the
one with the lowest validation loss; hollow points: a run with constraints ended infeasible.
"""
PARAMETERS = [
    "eps",
    "text.eps",
    "lm.eps",
    "arms",
    "studies",
    "objectives.${ours}",
    "profiles.${profile}.video",
    "profiles.${profile}.text",
    "profiles.${profile}.lm",
]


class Panel(NamedTuple):
    """The cells of one model on one data set, of a task's grid or of a study."""

    task: str
    experiment: str
    dataset: str
    model: str
    layers: int
    eps: float
    arms: list[str]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) or accuracy against the layers computed. Raises UserError without rows of a panel."""
    shown = panels(params)
    figure, every = style.in_rows(len(shown), COLUMNS, 1.75, 0.7)
    cells = cells_table(results, params)
    for panel, axes in zip(shown, every, strict=False):
        stage = "evaluate_studies" if panel.experiment in params.studies else f"evaluate_{panel.task}"
        setting = {name: getattr(panel, name) for name in ("experiment", "dataset", "model", "eps")}
        _draw(axes, panel, curves.required(results, stage, **setting), select(cells, **setting), params)
    words = {"within 5 % or one point of the last layer": NEAR, "trained with so few layers": SHALLOW}
    words |= {"one map, run on": ON} if (results["metric"] == FURTHER).any() else {}
    for label, look in words.items():
        every[0].add_line(Line2D([], [], color=style.GREY, label=label, **look))
    style.legend(figure, columns=3)
    return figure


def panels(params: Params) -> list[Panel]:
    """What is shown: every model in use, and the studies of several arms."""
    found = []
    for task in params.tasks:
        section = params.section(task)
        dataset = curves.in_use(curves.DATASETS[task], section.datasets)
        for eps in noises(params, task):
            for model in section.models:
                depth = max(params.model_budget(model)["layers"])
                found.append(Panel(task, task, dataset, model, depth, eps, params.arms))
    for name, study in params.in_use.items():
        compares = study.same_objectives and study.tested and study.times == 1 and len(study.beside) > 1
        if compares and params.runs(study):
            place = (study.dataset, study.model, study_depth(params, study), float(study.eps))
            found.append(Panel(study.task, name, *place, [*study.beside, study.arm]))
    return found


def noises(params: Params, task: str) -> list[float]:
    """The headline training level, then none where the grid trains without: there the layers of an unconstrained
    model differ most from their last one."""
    levels = {headline(params, task), *(0.0 for eps in params.budget.grids(task).eps if eps == 0)}
    return sorted(levels, reverse=True)


def _draw(axes: Axes, panel: Panel, rows: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    metric, words, tolerance = MEASURES[panel.task]
    if panel.experiment == "text" and seeds_are_trials(params):
        best = best_trial(cells, params)[["arm", "layers", "seed"]]
        rows, cells = rows.merge(best), cells.merge(best)
    at_level = {"split": "test", "gamma": panel.eps}
    for place, arm in enumerate(panel.arms):
        cell = {"arm": arm, "layers": panel.layers}
        points = curves.curve(rows, "layer", metric, **at_level, **cell)
        curves.draw(axes, points, arm, curves.state(cells, **cell), marker="o", markersize=2.2)
        color = style.color(arm)
        beyond = curves.curve(rows, "layer", FURTHER, **at_level, **cell)
        axes.plot(beyond.index, beyond, color=color, zorder=1, **ON)
        if len(points):
            # wider for each arm: of two at one layer both are seen
            ring = NEAR | {"markersize": NEAR["markersize"] + 2 * min(place, 4)}
            near = first_near(points, tolerance, metric == "accuracy")
            axes.plot(near.index, near, color=color, zorder=3, clip_on=False, **ring)
        for depth in sorted(set(select(rows, arm=arm)["layers"]) - {panel.layers}):
            shallow = curves.curve(rows, "layer", metric, **at_level, arm=arm, layers=depth)
            axes.plot(shallow.index[-1:], shallow.iloc[-1:], color=color, zorder=4, **SHALLOW)
    study = "" if panel.experiment == panel.task else f", study {panel.experiment}"
    noise = "" if panel.eps == headline(params, panel.task) else f"\n$\\epsilon$ = {panel.eps:g}"
    axes.set_title(style.wrapped(f"{style.name(panel.model)}, {style.name(panel.dataset)}{study}") + noise)
    axes.set(xlabel="layers computed", ylabel=words)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if metric == "accuracy":
        scales.percent(axes)
    else:
        scales.logarithmic(axes)


def first_near(points: pd.Series, tolerance: float, accuracy: bool) -> pd.Series:
    """The point of the first layer from which on no number is further from the last one's than the tolerance.

    Of errors the tolerance is a share of the last one, of accuracies a difference; better counts as near.
    """
    worse = points.iloc[-1] - points if accuracy else points / points.iloc[-1] - 1
    far = worse.index[worse > tolerance]
    return points[points.index > far.max()].iloc[:1] if len(far) else points.iloc[:1]
