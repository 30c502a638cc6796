"""What `dvc plots` draws: the tracked arm's curves as long CSVs."""

import pandas as pd

from descent.errors import UserError
from descent.params import Params
from descent.summary import best_depth, cells_table, measured, select

CURVES = {
    "rmse_vs_gamma": ["method", "dataset", "model", "gamma", "rmse"],
    "loss_per_layer": ["method", "dataset", "model", "layers", "layer", "loss"],
}


def curves(results: pd.DataFrame, params: Params) -> dict[str, pd.DataFrame]:
    """By file stem: RMSE (0-255) against gamma and test loss against layer, averaged over seeds.

    Only the arm named by `method`, at the headline `eps` (the loss also at that test noise), each model and
    data set at its best depth: two revisions then differ by what their user changed.

    Raises:
        UserError: no row of that arm and level.
    """
    arm = select(results, experiment="video", method=params.method, eps=float(params.eps))
    if arm.empty:
        raise UserError(f"no results of method {params.method!r} at eps {params.eps:g}: run `dvc repro`")
    best = best_depth(cells_table(arm, params))[["dataset", "model", "layers"]]
    shown = measured(select(arm, split="test")).merge(best)
    rows = {
        "rmse_vs_gamma": select(shown, metric="rmse"),
        "loss_per_layer": select(shown, metric="loss", gamma=float(params.eps)),
    }
    named = {stem: rows[stem].rename(columns={"value": columns[-1]}) for stem, columns in CURVES.items()}
    return {
        stem: named[stem].groupby(columns[:-1], as_index=False)[columns[-1]].mean()
        for stem, columns in CURVES.items()
    }
