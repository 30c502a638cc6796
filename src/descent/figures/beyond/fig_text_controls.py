"""Not in the paper: what each arm beside its two gains and costs against its baseline, on texts."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import control_rows, style

TASKS = ("text",)
TITLE = "What the constraint does to classifiers, beside its controls"
CAPTION = """
Ours, not the paper's. Accuracy of each arm on test texts minus that of the baseline of `comparison` in the same
setting: mean over seeds and over the test noise levels of the sweep, in points; right of zero the arm is the more
accurate. Filled: levels above the training level; hollow: levels up to it. Bars: Student's 95 % interval over
seeds, paired by seed; none for a single seed. An arm of which a cell diverged has words in place of points.
Inflation: the share of an arm's log-descent along the layers, on validation data, that comes from a layer worse
than the baseline's before it, as in fig_controls. Feasible: cells that meet the constraints on validation data, of
all. Arms may differ in the learning rate too: the compared two have each their best, a replay its twin's, the
others the model's. Where a panel's rows name rates (in brackets), each row is against the baseline of its rate.
"""
PARAMETERS = control_rows.parameters(TASKS[0])
left_out = partial(control_rows.left_out, task=TASKS[0])


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Differences of accuracy (points), a panel per study. Raises UserError without their rows."""
    label = f"accuracy of the arm - accuracy of {style.name(params.comparison.baseline)}, points →"
    return control_rows.render(results, params, TASKS[0], label)
