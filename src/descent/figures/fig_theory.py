"""Not in the paper: what its theory bounds, measured."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from descent.analysis import theory
from descent.analysis.select import select
from descent.config import Params
from descent.figures.parts import ablations, curves, style, text_curves

TASKS = ("video", "text")
TITLE = "The theory's bounds, measured"
CAPTION = """
Ours, not the paper's. Left and middle: violations of the descent constraints on test data against the test noise
level (thin: each layer's; thick: the largest), and the bound of Corollary 3, zeta + (2 - alpha) tau d: zeta is the
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
    "evaluation.gammas",
    "text.evaluation.gammas",
    "ablation",
    "profiles.${profile}.ablation.alpha",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Violations of a video and of a text setting, and the radius. Raises UserError without their rows."""
    for task, experiment in (("video", "video"), ("text", "text"), ("ablation", "alpha")):
        curves.required(results, f"evaluate_{task}", experiment=experiment)
    cells, losses = theory.shown(results, params), theory.layer_losses(results)
    figure, ((video, text, radius),) = style.panels(params, 1, 3, style.TEXT, 2.5, TASKS)
    settings = (
        (video, "video", *curves.paper_choice(params), params.eps),
        (text, "text", *text_curves.paper_choice(params, "imdb", "roberta"), params.text.eps),
    )
    for axes, experiment, dataset, model, eps in settings:
        _draw_violations(axes, losses, select(cells, experiment=experiment, dataset=dataset, model=model), params)
        curves.mark_training_level(axes, eps)
        title = f"{style.name(model)}, {style.name(dataset)}"
        axes.set(title=title, xlabel=style.GAMMA, ylabel=r"violation $v_l$ ↓")
    _draw_radius(radius, losses, select(cells, experiment="alpha"), params)
    radius.set(title=ablations.title(params), xlabel=ablations.ALPHA, ylabel="loss above the best known ↓")
    style.legend(figure)
    return figure


def _draw_violations(axes: Axes, losses: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    for _, cell in cells.iterrows():
        found, method = theory.of_cell(losses, cell, params), cell["method"]
        axes.plot(found.levels, found.violations, color=style.COLORS[method], linewidth=0.5, alpha=0.5)
        curves.draw(axes, pd.Series(found.worst, found.levels), method, marker="o")
        bound = pd.Series(found.bound, found.levels)
        curves.draw(axes, bound, method, label=f"bound, {method}", linewidth=0.8, alpha=0.6)
    axes.axhline(0, color="black", linewidth=0.6)


def _draw_radius(axes: Axes, losses: pd.DataFrame, cells: pd.DataFrame, params: Params) -> None:
    found = {
        theory.problem(cell, params).alpha: theory.of_cell(losses, cell, params) for _, cell in cells.iterrows()
    }
    looks = (("gap", "best layer, constrained", "constrained"), ("radius", r"radius $\zeta/\alpha$", "reference"))
    for name, label, method in looks:
        points = pd.Series({alpha: getattr(own, name) for alpha, own in found.items()}).sort_index()
        curves.draw(axes, points, method, label=label, marker="o")
    axes.set_yscale("symlog", linthresh=0.01)  # the best layer may be the best known: zero
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(bottom=0)
