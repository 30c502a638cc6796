"""What every arm gains over its baseline at each test noise level by itself, of which the verdicts judge means."""

import pandas as pd

from descent.analysis.controls import ARM, beside_baseline, over_seeds, scored
from descent.config import Params

LEVEL_OF_ARM = [*ARM, "gamma"]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per arm of a setting and swept level `gamma` of the noise of training, grids and studies.

    Columns beside ARM and `gamma`: `score`, the mean over seeds of -ln RMSE (0-255), or of the accuracy; `gain`,
    the mean of the score less that of the baseline's cell of the same seed (as controls.trained_cells; missing
    where there is none), with `gain_low`, `gain_high` and `gain_seeds` as controls.over_seeds. A cell that
    diverged scores as the zero map, or as chance.
    """
    _, rows = scored(results, params)
    rows = beside_baseline(rows.rename(columns={"value": "score"}), ["score"], params, by=["gamma"])
    rows = rows.assign(gain=rows["score"] - rows["score_baseline"])
    found = over_seeds(rows, ["score", "gain"], LEVEL_OF_ARM)
    return found[[*LEVEL_OF_ARM, "score", "gain", "gain_low", "gain_high", "gain_seeds"]]
