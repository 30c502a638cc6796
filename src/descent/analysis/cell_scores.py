"""What each cell scored at each level of test noise, of which all that is judged is made of means."""

import pandas as pd

from descent.analysis.select import CELL, at_eps, last_layer, select
from descent.components import TRAINED

BY_LEVEL = ("rmse", "accuracy", "most_frequent")  # of the last layer, and of maps that learn nothing
COLUMNS = [*CELL[1:], "gamma", "layer", "metric", "value"]


def table(results: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS: of every tested cell and every map that learns nothing, under the noise of training on the test set
    itself, `rmse` or `accuracy` at each level, and the `loss` of each layer at the training level; of texts the
    share of the most frequent answer.

    The gain of a pair is the mean of ln(rmse of the baseline / rmse of ours) over the swept levels above eps (the
    `gammas` of params.yaml; the training level is measured beside them), or the difference of mean accuracies,
    where neither is lost (`diverged` in cells.csv). A cell descends where its losses fall.
    """
    rows = select(results, split="test", shift=TRAINED, tested="", bin=0.0)
    outputs = last_layer(rows[rows["metric"].isin(BY_LEVEL)])
    losses = at_eps(select(rows, metric="loss"))
    return pd.concat([outputs, losses])[COLUMNS].sort_values(COLUMNS[:-1]).reset_index(drop=True)
