"""Tables of a published run that no figure needs: its controls, shifts against the baseline, trained numbers."""

import numpy as np
import pandas as pd
from scipy.stats import t

from descent.analysis.controls import of_study
from descent.analysis.select import TRAINED, measured, select
from descent.components import TASKS
from descent.config import Params

SETTING = ["experiment", "dataset", "model", "layers", "eps"]
CONTROLS = "controls"  # what the names of their studies begin with
GAINS = ["gain_in", "gain_out", "inflation", "slower"]
SHIFTED = ("rmse", "accuracy")  # of the last layer


def controls(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Mean effects of every arm of the studies of controls in use: `study`, and the columns of `of_study`."""
    names = [name for name in params.studies if name.startswith(CONTROLS) and params.runs(params.studied(name))]
    tables = [of_study(results, params, name, GAINS).assign(study=name) for name in names]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["study", "arm", "varied"])
    return found[["study", *found.columns.drop("study")]]


def shifts(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What every arm gains over the baseline under each shift that is not the noise of training.

    The gain of a pair is the mean over the shift's levels of ln(RMSE of the baseline / of the arm), or of the
    difference in accuracy of the last layer; its mean over settings is taken by seed. Pairs of which a cell has
    no number at a level do without it.

    Columns: experiment, model, shift, arm; `effect`, the mean over seeds, its 95 % Student interval `low` and
    `high` (NaN for one seed), `seeds` and `settings`.
    """
    rows = measured(select(results, split="test", bin=0.0))
    rows = rows[(rows["shift"] != TRAINED) & (rows["layer"] == rows["layers"]) & rows["experiment"].isin(TASKS)]
    gains = pd.concat([_gains(select(rows, metric=metric), params) for metric in SHIFTED])
    by, numbers = ["experiment", "model", "shift", "arm"], ["effect", "low", "high", "seeds", "settings"]
    if gains.empty:
        return pd.DataFrame(columns=[*by, *numbers])
    settings = gains.groupby([*SETTING, "shift", "arm", "seed"])["gain"].mean().reset_index()
    counted = settings[[*SETTING, "shift", "arm"]].drop_duplicates().groupby(by).size().rename("settings")
    by_seed = settings.groupby([*by, "seed"])["gain"].mean().reset_index()
    table = by_seed.groupby(by)["gain"].agg(effect="mean", sd="std", seeds="size")
    half = t.ppf(0.975, (table["seeds"] - 1).clip(lower=1)) * table.pop("sd") / np.sqrt(table["seeds"])
    table = table.assign(low=table["effect"] - half, high=table["effect"] + half, settings=counted)
    return table[numbers].reset_index()


def trained_numbers(results: pd.DataFrame) -> pd.DataFrame:
    """How many numbers each arm of a model trains: model, layers, arm, `numbers`; of the tasks' grids alone."""
    rows = select(results, metric="parameters")
    rows = rows[rows["experiment"].isin(TASKS)]
    return rows.groupby(["model", "layers", "arm"])["value"].max().astype(int).rename("numbers").reset_index()


def _gains(rows: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The rows of one metric with `gain`: how much better each is than the baseline's of its setting and seed."""
    by, baseline = [*SETTING, "shift", "gamma", "seed"], params.comparison.baseline
    score = np.where(rows["metric"] == "rmse", -np.log(rows["value"].where(rows["value"] > 0)), rows["value"])
    rows = rows.assign(score=score)
    of_baseline = select(rows, arm=baseline).set_index(by)["score"].rename("of_baseline")
    joined = rows[rows["arm"] != baseline].join(of_baseline, on=by, how="inner")
    return joined.assign(gain=joined["score"] - joined["of_baseline"])
