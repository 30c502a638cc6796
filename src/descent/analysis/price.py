"""What descent costs a video model whose layers are all one map: in closed form, and measured.

With t the clean patch, m = E[t | input] and x_l what layer l makes of the input, x_l - m is orthogonal to m - t, so

    f_l = F + d_l        F = E|m - t|^2, which no model gets below;  d_l = E|x_l - m|^2

Layers that are one map, under which each direction of x - m shrinks at a rate of its own, have, with c_i >= 0,

    d_l = sum_i c_i rho_i^l,    0 <= rho_i <= 1,    sum_i c_i = f_0 - F <= R0 - F

The descent asked of the last layer, f_L <= (1 - alpha) f_{L-1}, is sum_i c_i rho_i^(L-1) (q - rho_i) >= (1 - q) F with
q = 1 - alpha. In w = rho^L the left side is sum_i c_i (q w_i^(1 - 1/L) - w_i), concave, so that (Jensen) no mixture of
rates has a lower f_L than a single one with all that the cap allows, the smallest root rho of

    (R0 - F) rho^(L-1) (q - rho) = (1 - q) F,        f_L / F = q (1 - rho) / (q - rho)

and f_l / f_{l-1} grows with l, so that the last layer's constraint holds the others. With F = 0 or alpha = 0 nothing is
lost, the price grows with L and falls with R0. Layers of their own rates have none: d_L = 0 after any d_{L-1}.

Beside the theorem stands an approximation: what ERM reaches stands for F, and training may bend the map.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from descent.analysis.controls import beside_plain, over_seeds
from descent.analysis.keys import SETTING
from descent.analysis.lost import truth
from descent.components import TASKS
from descent.config import Params

ASKED = {
    "alpha",
    "margin",
    "R0",
}  # what the closed form knows of a problem: studies of anything else say nothing of it
PLACE = ["experiment", *SETTING, "varied"]


def tied(F: float, alpha: float, R0: float, layers: int) -> float:
    """The least f_L / F of layers that are one map, by the closed form above; NaN where no such model descends so.

    Args:
        F: what a model without constraints reaches, in units of R0; above 0, below R0.
        alpha: the share of its loss that each layer must take away.
        layers: L, at least 1.
    """
    q = 1 - alpha
    left = lambda rho: (R0 - F) * rho ** (layers - 1) * (q - rho) - (1 - q) * F  # noqa: E731 - the equation's two sides
    top = q * (layers - 1) / layers  # where it is largest
    if left(top) < 0:
        return float("nan")
    rho = 0.0 if left(0.0) >= 0 else brentq(left, 0.0, top)
    return q * (1 - rho) / (q - rho)


def measured(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What constrained video models pay on validation data, beside the closed form; a row a setting of PLACE.

    Of the task's grid and of studies that vary nothing but ASKED, in which the constrained arm is params.comparison's.
    Pairs of which a cell diverged are left out.

    Args:
        cells: one row per cell (summary.cells_table).

    Columns: PLACE; `tied`, whether all layers are one map; `share` and `cap`, the alpha (the margin
    included) and the R0 (less it) that training asks for; `paid`, the mean over seeds of ln(f_L / ERM's f_L), with Student's 95 % interval (`paid_low`,
    `paid_high`, `paid_seeds`); `expected`, the mean of ln `tied`, NaN where the layers are not one map.
    """
    found = cells[cells["experiment"].isin(_experiments(params)) & cells["trained"].astype(bool)]
    found = found[~truth(found["diverged"]) & found["validation_loss"].notna()]
    found = beside_plain(found, ["validation_loss"], params)
    found = found[(found["arm"] == params.comparison.ours) & found["validation_loss_plain"].notna()]
    asked = [_asked(cell, params) for _, cell in found.iterrows()]
    found = found.join(pd.DataFrame(asked, columns=["tied", "share", "cap", "steps"], index=found.index))
    F, f = (found[name].to_numpy(float) for name in ("validation_loss_plain", "validation_loss"))
    form = zip(found["tied"], F, found["share"], found["cap"], found["steps"], strict=True)
    expected = [np.log(tied(*own)) if one else np.nan for one, *own in form]
    found = found.assign(paid=np.log(f / F), expected=expected)
    by = [*PLACE, "tied", "share", "cap"]
    middle = found.groupby(by)["expected"].agg(lambda own: own.mean(skipna=False))
    return over_seeds(found, ["paid"], by).join(middle, on=by) if len(found) else found[[*by, "paid", "expected"]]


def _experiments(params: Params) -> list[str]:
    """The grid of videos, and the studies of videos that vary nothing but ASKED."""
    named = []
    for name, study in params.in_use.items():
        changed = set().union(*study.variants().values()) | {*study.overrides}
        varied = any(study.reading(word) for word in study.variants())
        if study.task == "video" and changed <= ASKED and not varied and study.arm == params.comparison.ours:
            named.append(name)
    return [TASKS[0], *named]


def _asked(cell: pd.Series, params: Params) -> tuple[bool, float, float, int]:
    problem = params.held_to(cell)
    share, cap = problem.alpha + problem.margin, problem.R0 * (1 - problem.margin)
    return params.tied(cell["model"], cell["arm"]), share, cap, cell["layers"] - problem.cap_layer
