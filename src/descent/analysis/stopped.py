"""What a model pays and gains where its answer is taken from a layer before the last.

Whoever stops a model early needs no constraint for it: what constrained training gains is to be laid beside what
plain training gains by that.
"""

import numpy as np
import pandas as pd

from descent.analysis.controls import over_seeds
from descent.analysis.keys import PAIR, SETTING
from descent.analysis.select import TRAINED, in_distribution, last_layer, measured, select, whole_sweep
from descent.analysis.summary import best_of_search, sound
from descent.components import TASKS
from descent.config import Params

METRIC = {"video": "loss", "text": "accuracy", "lm": "accuracy"}
GAINS, AHEAD = ["gain_in", "gain_out"], ["ahead_in", "ahead_out"]
BY = [*SETTING, "arm", "layer"]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of the grid's cells of both arms, stopped at each layer: BY, and over seeds the means of `gain_in`,
    `gain_out`, `ahead_in` and `ahead_out`, each with Student's interval (`_low`, `_high`) and its `_seeds`.

    A gain is the mean over the swept levels of test noise up to eps, or above it, of ln(RMSE of the baseline's
    last layer / RMSE of this layer), of texts and language models of the difference of the accuracies (this
    layer's less that one's), of the baseline cell with the same seed; what it is ahead, the same of our arm's last
    layer in place of that one. Seeds of which an arm diverged are left out. Empty where there are no such cells.
    """
    tables = [_of_task(results, params, task) for task in TASKS]
    whole = [found for found in tables if len(found)]
    return pd.concat(whole, ignore_index=True) if whole else pd.DataFrame(columns=[*BY, *GAINS, *AHEAD])


def _of_task(results: pd.DataFrame, params: Params, task: str) -> pd.DataFrame:
    own = best_of_search(select(results, experiment=task), params)
    rows = measured(select(sound(own, params), split="test", shift=TRAINED, tested="", bin=0.0))
    if (rows := select(rows, metric=METRIC[task])).empty:
        return rows
    gammas = params.section(task).evaluation.gammas
    scores = pd.concat([whole_sweep(of_layer, METRIC[task], gammas) for _, of_layer in rows.groupby("layer")])
    if METRIC[task] == "loss":  # a mean square, summed over a patch or not, which cancels
        scores = scores.assign(value=-np.log(scores["value"]) / 2)
    inside = in_distribution(scores["gamma"], scores["eps"])
    sides = {"gain_in": scores[inside], "gain_out": scores[~inside]}
    found = pd.DataFrame({name: side.groupby([*BY, "seed"])["value"].mean() for name, side in sides.items()})
    found = found.reset_index()
    last, pairs = last_layer(found).set_index(PAIR), pd.MultiIndex.from_frame(found[PAIR])
    ours, plain = (select(last, arm=arm)[GAINS].reindex(pairs).to_numpy() for arm in params.comparison.arms)
    found[AHEAD] = found[GAINS] - ours
    found[GAINS] -= plain
    return over_seeds(found, [*GAINS, *AHEAD], by=BY)
