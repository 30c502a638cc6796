"""What a model of video pays and gains where its answer is taken from a layer before the last.

Whoever stops a model early needs no constraint for it: what constrained training gains is to be laid beside what
plain training gains by that.
"""

import numpy as np
import pandas as pd

from descent.analysis.controls import over_seeds
from descent.analysis.keys import PAIR, SETTING
from descent.analysis.select import TRAINED, in_distribution, measured, select, whole_sweep
from descent.analysis.summary import sound
from descent.config import Params

TASK = "video"
GAINS = ["gain_in", "gain_out"]
BY = [*SETTING, "arm", "layer"]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of the grid's cells of both arms, stopped at each layer: BY, and over seeds the mean of `gain_in` and
    `gain_out`, each with Student's interval (`_low`, `_high`) and its `_seeds`.

    A gain is the mean over the swept levels of test noise up to eps, or above it, of ln(RMSE of the baseline's
    last layer / RMSE of this layer), of the baseline cell with the same seed; seeds of which an arm diverged are
    left out. Empty where there are no such cells.
    """
    own = measured(sound(select(results, experiment=TASK), params))
    losses = select(own, metric="loss", split="test", shift=TRAINED, tested="", bin=0.0)
    if losses.empty:
        return pd.DataFrame(columns=[*BY, *GAINS])
    gammas = params.video.evaluation.gammas
    swept = pd.concat([whole_sweep(rows, "loss", gammas) for _, rows in losses.groupby("layer")])
    # A loss is a mean square, summed over a patch or not, which cancels.
    scores = swept.assign(score=-np.log(swept["value"]) / 2)
    inside = in_distribution(scores["gamma"], scores["eps"])
    sides = {"gain_in": scores[inside], "gain_out": scores[~inside]}
    found = pd.DataFrame({name: side.groupby([*BY, "seed"])["score"].mean() for name, side in sides.items()})
    found = found.reset_index()
    whole = select(found[found["layer"] == found["layers"]], arm=params.comparison.baseline).set_index(PAIR)
    found[GAINS] -= whole[GAINS].reindex(pd.MultiIndex.from_frame(found[PAIR])).to_numpy()
    return over_seeds(found, GAINS, by=BY)
