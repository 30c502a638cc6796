"""What `dvc plots` draws: the tracked arm's curves as long CSVs."""

import pandas as pd

from descent.analysis.select import last_layer
from descent.analysis.summary import best_depth, cells_table, measured, select
from descent.analysis.trials import best_text
from descent.config import Params
from descent.errors import UserError

CURVES = {
    "rmse_vs_gamma": ["method", "dataset", "model", "gamma", "rmse"],
    "loss_per_layer": ["method", "dataset", "model", "layers", "layer", "loss"],
    "accuracy_vs_gamma": ["method", "dataset", "model", "gamma", "accuracy"],
    "text_loss_per_layer": ["method", "dataset", "model", "layers", "layer", "loss"],
}


def curves(results: pd.DataFrame, params: Params) -> dict[str, pd.DataFrame]:
    """By file stem: of video RMSE (0-255), of text accuracy (share), against gamma; test losses against layer.

    Only the arm named by `method`, at the headline level (`eps`, `text.eps`; the losses also at that test
    noise): of video each model and data set at its best depth, averaged over seeds, of text at its best depth
    and trial. Two revisions then differ by what their user changed.

    Raises:
        UserError: no row of that arm and level.
    """
    video, text = _video(results, params), _text(results, params)
    rows = {
        "rmse_vs_gamma": select(video, metric="rmse"),
        "loss_per_layer": select(video, metric="loss", gamma=float(params.eps)),
        "accuracy_vs_gamma": last_layer(select(text, metric="accuracy")),
        "text_loss_per_layer": select(text, metric="loss", gamma=float(params.text.eps)),
    }
    named = {stem: rows[stem].rename(columns={"value": columns[-1]}) for stem, columns in CURVES.items()}
    return {
        stem: named[stem].groupby(columns[:-1], as_index=False)[columns[-1]].mean()
        for stem, columns in CURVES.items()
    }


def _video(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    arm = _arm(results, params, "video", params.eps)
    best = best_depth(cells_table(arm, params))[["dataset", "model", "layers"]]
    return measured(select(arm, split="test")).merge(best)


def _text(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    arm = _arm(results, params, "text", params.text.eps)
    best = best_text(cells_table(arm, params))[["dataset", "model", "layers", "seed"]]
    return measured(select(arm, split="test")).merge(best)


def _arm(results: pd.DataFrame, params: Params, experiment: str, eps: float) -> pd.DataFrame:
    arm = select(results, experiment=experiment, method=params.method, eps=float(eps))
    if arm.empty:
        raise UserError(f"no {experiment} results of method {params.method!r} at eps {eps:g}: run `dvc repro`")
    return arm
