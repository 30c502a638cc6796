"""Figure 5: what the required descent buys and costs, within and beyond the training noise."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import ablations, style, text_curves

TASKS = text_curves.TASKS
STUDY = "alpha"
left_out = partial(ablations.left_out, name=STUDY)
TITLE = "Required descent and accuracy"
CAPTION = """
Mean accuracy on test texts against alpha, the descent required of every layer: left in distribution (test noise
up to the training level), right out of distribution (above it); the vertical scales differ. Mean and standard
deviation over seeds; across, with a band: the arms beside it. The paper's claim: accuracy out of distribution
rises with alpha, at a small price within it. Hollow: a seed ended infeasible; cross at the foot: one diverged.
"""
PARAMETERS = [
    "study.alpha",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.studies.alpha",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Mean accuracy (share) against alpha, two panels. Raises UserError without rows of the study."""
    study = params.studied(STUDY)
    _, cells = ablations.cells_of(results, params, STUDY)
    figure, (grid,) = style.panels(1, 2, style.TEXT, 2.5)
    for axes, where in zip(grid, ("in", "out_of"), strict=True):
        ablations.draw(axes, cells, f"accuracy_{where}_distribution", study)
        title = f"{ablations.title(study)}, {where.replace('_', ' ')} distribution"
        axes.set(title=title, xlabel=ablations.label(study), ylabel=style.ACCURACY)
    style.legend(figure)
    return figure
