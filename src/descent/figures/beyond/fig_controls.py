"""Not in the paper: what each arm beside its two gains and costs against its baseline, on video."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from descent.config import Params
from descent.figures.parts import control_rows, remarks, style

TASK = "video"
TITLE = "What the constraint does, beside its controls"
CAPTION = """
Ours, not the paper's. Error of each arm against that of the baseline of `comparison` in the same setting: mean
over seeds and over the test noise levels of the sweep of ln(RMSE of the baseline / RMSE of the arm), in percent;
right of zero the arm has the smaller error. Where the rows of a panel name settings of the model, or rates, each
is against a baseline that has them too. Filled: levels above the training level; hollow: levels up to it.
Bars: Student's 95 % interval over seeds, paired by seed; none for a single seed. An arm of which a cell diverged
has words in place of points: such a cell scores as the map to zero, which would set the scale. Inflation: the
share of an arm's log-descent along the layers, on validation data, that comes from a layer worse than the
baseline's before it: sum of min(max(0, ln f_{l-1}/g_{l-1}), d_l) over the sum of the descents
d_l = ln f_{l-1}/f_l that are positive, over the constrained layers (f: of the arm, g: of the baseline); 100 %:
each layer improves only on what was made worse. Feasible: cells that meet the constraints on validation data, of
all. Arms may differ in the learning rate too: the compared two have each their best, what follows or varies one of
them (a replay, a range of noise) the same, the others the model's.
"""
PARAMETERS = control_rows.parameters(TASK)
left_out = partial(control_rows.left_out, task=TASK)


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Log-ratios (percent), a panel per study. Raises UserError without rows of a study, or of its task."""
    label = f"ln(RMSE of {style.name(params.comparison.baseline)} / RMSE of the arm), % →"
    return control_rows.render(results, params, TASK, label)


def remarks_on(params: Params) -> list[str]:
    """What must be read with it."""
    names = params.controls(TASK)
    return remarks.capacity(params, list(dict.fromkeys(params.studied(name).model for name in names)))
