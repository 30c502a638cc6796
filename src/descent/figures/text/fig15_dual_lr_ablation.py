"""Figure 15: accuracy at three test noise levels against the learning rate of the multipliers."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import ablations, text_curves

TASKS = text_curves.TASKS
STUDY = "dual_lr"
left_out = partial(ablations.left_out, name=STUDY)
TITLE = "Ablation of the dual learning rate"
CAPTION = """
Accuracy on test texts at the lowest, the middle and the highest level of text.evaluation.gammas against the
learning rate of the multipliers (logarithmic), on one scale. Mean and standard deviation over seeds; across,
with a band: the arms beside it. The paper's claim: flat. Hollow: a seed ended infeasible; cross at the foot:
one diverged.
"""
PARAMETERS = [
    "study.dual_lr",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.studies.dual_lr",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy (share) against the dual rate, a panel per level. Raises UserError without rows of the study."""
    return ablations.draw_three_levels(results, params, STUDY, "log")
