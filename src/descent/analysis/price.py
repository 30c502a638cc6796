"""What descent costs a video model whose layers are all one map: in closed form, and measured.

With t the clean patch, m = E[t | input] and x_l what layer l makes of the input, x_l - m is orthogonal to m - t:

    f_l = F + d_l        F = E|m - t|^2, which no model gets below;  d_l = E|x_l - m|^2

Layers that are one map, which applied for ever would end at m, along orthogonal directions, have, with c_i >= 0
and rho_i the square of the rate at which one of them shrinks,

    d_l = sum_i c_i rho_i^l,    0 <= rho_i <= 1,    sum_i c_i = f_0 - F <= R0 - F

The descent asked of the last layer, f_L <= (1 - alpha) f_{L-1}, is, with q = 1 - alpha,

    sum_i c_i rho_i^(L-1) (q - rho_i) >= (1 - q) F

In w = rho^L its left side is sum_i c_i (q w_i^(1 - 1/L) - w_i), concave, so that (Jensen) no mixture of rates has
a lower f_L than a single one with all that the cap allows, the smallest root rho of

    (R0 - F) rho^(L-1) (q - rho) = (1 - q) F,        f_L / F = q (1 - rho) / (q - rho)

There f_l / f_{l-1} grows with l: layers before the last descend by more than they must. The price grows with L,
alpha and F, and falls with R0. Where each layer is a map of its own there is none as long as F <= q^L R0: d_L = 0
after any d_{L-1}.

That is the theorem. A map that would end beyond m may pass m at layer L and pay nothing. The approximation: what
ERM reaches stands for F, and that training makes the layers such a map.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from descent.analysis.controls import beside_baseline, over_seeds
from descent.analysis.keys import SETTING
from descent.analysis.lost import truth
from descent.components import TASKS
from descent.config import Params
from descent.study import Study

ASKED = {"alpha", "margin", "R0"}  # of a problem all that the closed form knows
PAID_AT = ["experiment", *SETTING, "varied"]
OF_PAIR = ["tied", "share", "cap"]


def tied(F: float, alpha: float, R0: float, layers: int) -> float:
    """The least f_L / F of one map that comes to rest at m, by the closed form above; NaN where none descends so.

    Args:
        F: what a model without constraints reaches, above 0; from R0 on NaN is the answer.
        alpha: the share of its loss that each layer must take away.
        R0: the cap on f_0, in the units of F.
        layers: L; of none nothing is asked, and NaN the answer.
    """
    if layers < 1:
        return float("nan")
    q = 1 - alpha
    top = q * (layers - 1) / layers  # where the left side of the equation is largest

    def over(rho: float) -> float:
        return (R0 - F) * rho ** (layers - 1) * (q - rho) - (1 - q) * F

    if over(top) < 0:
        return float("nan")
    rho = 0.0 if over(0.0) >= 0 else brentq(over, 0.0, top)
    return q * (1 - rho) / (q - rho)


def measured(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What constrained video models pay on validation data, beside the closed form: a row for each PAID_AT.

    Of the grid of videos and of the studies that vary ASKED and nothing else, not how long is trained either,
    models in which the layers of both arms are one map, or those of neither. What the grid asks too is the
    grid's alone. A pair of which a cell diverged is left out; one whose constraints do not hold is not, and `held`
    tells how many do.

    Args:
        cells: one row per cell (summary.cells_table).

    Columns: PAID_AT; `tied`, whether all layers are one map; `share` and `cap`, the alpha and R0 that training
    asks for, the margin in them; `held`, the share of the constrained cells that are feasible on validation data;
    `paid`, the mean over seeds of ln(f_L / ERM's f_L), with Student's 95 % interval (`paid_low`, `paid_high`,
    `paid_seeds`); `expected`, the mean of ln `tied`, missing where layers are not one map, and where for some seed
    no such model descends so.
    """
    names = [TASKS[0], *(name for name, study in params.in_use.items() if _says(study, params))]
    known = cells["trained"].astype(bool) & ~truth(cells["diverged"]) & cells["validation_loss"].notna()
    pairs = beside_baseline(cells[cells["experiment"].isin(names) & known], ["validation_loss"], params)
    pairs = pairs[(pairs["arm"] == params.comparison.ours) & pairs["validation_loss_baseline"].notna()]
    alike = [model for model in pairs["model"].unique() if _alike(model, params)]
    pairs = pairs[pairs["model"].isin(alike)]
    found = _once(pairs[[*PAID_AT, "seed"]].join(_beside_form(pairs, params)))
    if found.empty:
        return found
    by = [*PAID_AT, *OF_PAIR]
    alone = found.groupby(by)[["held", "expected"]].agg(lambda own: own.mean(skipna=False))
    return over_seeds(found, ["paid"], by).join(alone, on=by)


def _says(study: Study, params: Params) -> bool:
    """Whether a study varies something, and the closed form knows all of it."""
    words = study.variants()
    changed = {name for values in words.values() for name in values}
    models = any(study.reading(word) for word in words)
    known = set() < changed <= ASKED and study.times == 1 and not models
    return known and study.task == TASKS[0] and study.arm == params.comparison.ours


def _once(found: pd.DataFrame) -> pd.DataFrame:
    """Without a study's pairs of settings of which the grid asks the same."""
    asked, of_grid = pd.MultiIndex.from_frame(found[[*SETTING, *OF_PAIR]]), found["experiment"] == TASKS[0]
    return found[of_grid | ~asked.isin(asked[of_grid])]


def _alike(model: str, params: Params) -> bool:
    return len({params.tied(model, arm) for arm in params.comparison.arms}) == 1


def _beside_form(pairs: pd.DataFrame, params: Params) -> pd.DataFrame:
    """OF_PAIR, `held`, `paid` and `expected` of each pair."""
    found = []
    for _, own in pairs.groupby(["experiment", "dataset", "model", "varied"]):
        problem = params.held_to(own.iloc[0])
        one = params.tied(own["model"].iloc[0], params.comparison.ours)
        share, cap = problem.alpha + problem.margin, problem.R0 * (1 - problem.margin)
        F, f = (own[name].to_numpy(float) for name in ("validation_loss_baseline", "validation_loss"))
        steps = own["layers"] - problem.cap_layer
        form = [tied(least, share, cap, L) if one else np.nan for least, L in zip(F, steps, strict=True)]
        numbers = {"held": truth(own["feasible"]).astype(float), "paid": np.log(f / F), "expected": np.log(form)}
        found.append(pd.DataFrame(numbers, own.index).assign(tied=one, share=share, cap=cap))
    return pd.concat(found) if found else pd.DataFrame(columns=["held", "paid", "expected", *OF_PAIR])
