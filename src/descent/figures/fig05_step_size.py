"""Figure 5: what the required descent buys and costs, within and beyond the training noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import ablations, style, text_curves

TASKS = text_curves.TASKS
TITLE = "Required descent and accuracy"
CAPTION = """
Mean accuracy on test texts against alpha, the descent required of every layer: left in distribution (test noise
up to the training level), right out of distribution (above it); the vertical scales differ. Mean and standard
deviation over seeds; dashed, with a band: the unconstrained arm. The paper's claim: accuracy out of distribution
rises with alpha, at a small price within it. Hollow: a seed ended infeasible; cross at the foot: one diverged.
"""
PARAMETERS = [
    "ablation",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.ablation.alpha",
    "profiles.${profile}.ablation.seeds",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Mean accuracy (share) against alpha, two panels. Raises UserError without rows of the ablation."""
    _, cells = ablations.cells_of(results, params, "alpha")
    figure, (grid,) = style.panels(params, 1, 2, style.TEXT, 2.5, TASKS)
    for axes, where in zip(grid, ("in", "out_of"), strict=True):
        ablations.draw(axes, cells, f"accuracy_{where}_distribution")
        title = f"{ablations.title(params)}, {where.replace('_', ' ')} distribution"
        axes.set(title=title, xlabel=ablations.ALPHA, ylabel=style.ACCURACY)
    style.legend(figure)
    return figure
