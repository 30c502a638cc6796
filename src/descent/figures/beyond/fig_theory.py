"""Not in the paper: what its theory bounds, measured."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import theory
from descent.analysis.select import select
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import ablations, curves, scales, style

TASKS = ("video", "text")
RADIUS = "alpha"  # the study of the right panel
left_out = curves.without_constraints
TITLE = "The theory's bounds, measured"
CAPTION = """
Ours, not the paper's. Left and middle: violations of the descent constraints on test data against the test noise
level, of the two arms of `comparison`, of each the seed with the lowest validation loss (thin: each layer's, which
may leave the panel; thick: the largest), and the bound of Corollary 3, zeta + (2 - alpha) tau d: zeta is the
largest difference of a layer's validation and test loss at the training level, tau the largest change of a layer's
loss per change d of the noise level. At most zero: every layer descends enough. As tau is measured on the same
losses, the bound cannot fail by more than the violation at the training level; what can be read is how far below
it the violations stay, and in which arm they grow. Right: the lowest loss of any layer above the best known one,
against alpha, and Theorem 2's radius zeta / alpha without its term in nu. What cannot be measured: nu, K nu, the
optimal value P*, and the limit of infinite depth.
"""
PARAMETERS = [
    "eps",
    "text.eps",
    "comparison",
    "video.evaluation.gammas",
    "text.evaluation.gammas",
    "study.alpha",
    "profiles.${profile}.studies.alpha",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Violations of a setting of each task, and the radius. Raises UserError where rows of these are missing."""
    tasks = [task for task in params.tasks if task in TASKS]
    varied = RADIUS in params.studies and params.runs(params.studied(RADIUS))
    for stage, experiment in [(task, task) for task in tasks] + [("studies", RADIUS)] * varied:
        curves.required(results, f"evaluate_{stage}", experiment=experiment)
    cells = theory.shown(results, params)
    losses = theory.layer_losses(results)
    radius = select(cells, experiment=RADIUS)  # none where every cell of the study diverged
    if not tasks and radius.empty:
        return style.empty("no cell of the study that did not diverge")
    figure, (grid,) = style.panels(1, len(tasks) + (len(radius) > 0), style.TEXT, 3.0)
    for axes, task in zip(grid, tasks, strict=False):
        dataset, model = curves.choice(params.section(task), curves.DATASETS[task], curves.MODELS[task])
        shown = select(cells, experiment=task, dataset=dataset, model=model)
        _draw_violations(axes, losses, shown[shown["arm"].isin(params.comparison.arms)], params)
        curves.mark_training_level(axes, headline(params, task))
        title = f"{style.name(model)}, {style.name(dataset)}"
        axes.set(title=title, xlabel=style.GAMMA, ylabel=r"violation $v_l$ ↓")
    if len(radius):
        _draw_radius(grid[-1], losses, radius, params)
    style.legend(figure)
    return figure


def _draw_violations(axes: Axes, losses: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    """The largest violations and their bounds rule the scale: a layer far below zero may leave the panel."""
    ends = [0.0]
    for _, cell in cells.iterrows():
        found = theory.of_cell(losses, cell, params)
        arm = cell["arm"]
        axes.plot(found.levels, found.violations, color=style.color(arm), linewidth=0.5, alpha=0.5)
        curves.draw(axes, pd.Series(found.worst, found.levels), arm, marker="o")
        bound = pd.Series(found.bound, found.levels)
        curves.draw(axes, bound, arm, label=f"bound, {style.name(arm)}", linewidth=0.8, alpha=0.6)
        ends += [float(end(line)) for line in (found.worst, found.bound) for end in (np.min, np.max)]
    margin = 0.08 * (max(ends) - min(ends)) or 0.1
    axes.set_ylim(min(ends) - margin, max(ends) + margin)
    axes.axhline(0, color="black", linewidth=0.6)


def _draw_radius(axes: Axes, losses: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    study = params.studied(RADIUS)
    found = {params.held_to(cell).alpha: theory.of_cell(losses, cell, params) for _, cell in cells.iterrows()}
    for quantity, label, word in (
        ("gap", f"best layer, {style.name(study.arm)}", study.arm),
        ("radius", r"radius $\zeta/\alpha$", ""),  # of no arm: grey
    ):
        points = pd.Series({alpha: getattr(own, quantity) for alpha, own in found.items()}).sort_index()
        curves.draw(axes, points, word, label=label, marker="o")
    axes.set_yscale("symlog", linthresh=0.01)  # the best layer may be the best known: zero
    axes.yaxis.set_major_formatter(scales.PLAIN)
    axes.set_ylim(0, 1.6 * axes.dataLim.ymax)
    axes.set(title=ablations.title(study), xlabel=ablations.label(study), ylabel="loss above the best known ↓")
