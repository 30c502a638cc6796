"""Figure 15: accuracy at three test noise levels against the learning rate of the multipliers."""

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import ablations, text_curves

TASKS = text_curves.TASKS
TITLE = "Ablation of the dual learning rate"
CAPTION = """
Accuracy on test texts at the lowest, the middle and the highest level of text.evaluation.gammas against the
learning rate of the multipliers (logarithmic), on one scale. Mean and standard deviation over seeds; dashed,
with a band: the unconstrained arm. The paper's claim: flat. Hollow: a seed ended infeasible; cross at the foot:
one diverged.
"""
PARAMETERS = [
    "ablation",
    "text.tolerance",
    "text.evaluation.gammas",
    "profiles.${profile}.ablation.dual_lr",
    "profiles.${profile}.ablation.seeds",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Accuracy (share) against the dual rate, a panel per level. Raises UserError without rows of the ablation."""
    return ablations.draw_three_levels(results, params, "dual_lr", ablations.DUAL_LR, "log")
