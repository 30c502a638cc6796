"""Figure 14: accuracy at three test noise levels against the required descent."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import ablations, text_curves

TASKS = text_curves.TASKS
STUDY = "alpha"
left_out = partial(ablations.left_out, name=STUDY)
TITLE = "Ablation of the required descent"
CAPTION = """
Accuracy on test texts at the lowest, the middle and the highest level of text.evaluation.gammas against alpha,
on one scale. Mean and standard deviation over seeds; across, with a band: the arms beside it. The paper's
claim: flat at the lower levels, rising with alpha at the highest. Hollow: a seed ended infeasible; cross at the
foot: one diverged.
"""
PARAMETERS = [
    "study.alpha",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.studies.alpha",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy (share) against alpha, a panel per level. Raises UserError without rows of the study."""
    return ablations.draw_three_levels(results, params, STUDY, "linear")
