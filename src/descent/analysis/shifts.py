"""What an arm gains over the baseline on test data under shifts that training has not seen.

The gain of a pair of cells (one setting, one seed) at a level is ln(RMSE of the baseline / of the arm), or the
difference in accuracy of the last layer. Means are over the levels of a shift, then over shifts, then the
protocol's trimmed one over settings; what remains, a number a seed, has Student's interval.
"""

import numpy as np
import pandas as pd

from descent.analysis.keys import SETTING
from descent.analysis.lost import as_chance, as_zero
from descent.analysis.select import TRAINED, last_layer, measured, select
from descent.analysis.summary import best_of_search
from descent.analysis.verdicts import half_width, trimmed
from descent.components import TASKS
from descent.config import Params

WHERE = ["experiment", *SETTING]  # a setting of a task or of a study
SCORES = ("rmse", "accuracy")  # of the last layer
NUMBERS = ["effect", "low", "high", "seeds", "settings"]


def others(params: Params, task: str) -> list[str]:
    """The shifts in use of a task that fit one of its models in use and are neither training's nor a control."""
    gone = {TRAINED, *unmoved(params, task)}
    return [shift for shift in params.shifts_of(task) if shift not in gone and _fits(params, task, shift)]


def _fits(params: Params, task: str, shift: str) -> bool:
    """Models of single frames see no time."""
    said = params.components["shifts"][shift]
    models = params.section(task).models
    inputs = {params.components["models"][model].get("INPUTS") for model in models}
    return said.get("SEES") != "time" or inputs != {"frames"}


def unmoved(params: Params, task: str) -> list[str]:
    """The shifts in use that must not move the error of a model: the right answers move with the inputs."""
    said = params.components["shifts"]
    return [shift for shift in params.shifts_of(task) if said[shift].get("EQUIVARIANT", False)]


def gains(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The last layer's rows of every arm but the baseline under every shift of `others`, with their `gain`.

    A denoiser that diverged scores as the zero map, a classifier as chance; other pairs of which a cell has no
    number at a level do without it. Of a search of text each arm has its best trial.

    Args:
        results: of all training levels, since the maps that learn nothing have none.
    """
    results = best_of_search(results, params)
    rows = measured(select(results, split="test", bin=0.0))
    named = pd.concat(
        [rows[(rows["experiment"] == task) & rows["shift"].isin(others(params, task))] for task in TASKS]
    )
    last = last_layer(named)
    errors, accuracies = (select(last, metric=metric) for metric in SCORES)
    errors = as_zero(errors, select(results, experiment="video"))
    accuracies = as_chance(accuracies, results, params)
    return pd.concat([against_baseline(rows, params) for rows in (errors, accuracies)])


def estimates(gains: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The gains by these columns: NUMBERS, of which `low` and `high` are NaN for one seed."""
    if gains.empty:
        return pd.DataFrame(columns=[*by, *NUMBERS])
    pair = [*WHERE, "shift", "arm", "seed", *(column for column in ("tested", "gamma") if column in by)]
    by_shift = gains.groupby(pair)["gain"].mean().reset_index()
    by_setting = by_shift.groupby([*dict.fromkeys([*WHERE, *by]), "seed"])["gain"].mean().reset_index()
    counted = by_setting[[*dict.fromkeys([*WHERE, *by])]].drop_duplicates().groupby(by).size().rename("settings")
    by_seed = by_setting.groupby([*by, "seed"])["gain"].agg(_of_settings).reset_index()
    table = by_seed.groupby(by)["gain"].agg(effect="mean", error="sem", seeds="size")
    half = half_width(table.pop("error"), table["seeds"])
    table = table.assign(low=table["effect"] - half, high=table["effect"] + half, settings=counted)
    return table[NUMBERS].reset_index()


def _of_settings(gains: pd.Series) -> float:
    """As the protocol has it, so that a mean over levels stands beside levels of the same settings."""
    return float(trimmed(gains.dropna().to_numpy(float)))


def moved(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of the shifts of `unmoved`, by model and arm, the largest |ln(RMSE at a level / at the lowest)|."""
    rows = measured(select(results, split="test", metric="rmse", experiment="video", bin=0.0))
    rows = rows[rows["shift"].isin(unmoved(params, "video")) & rows["arm"].isin(params.arms) & (rows["value"] > 0)]
    logs = rows.assign(value=np.log(rows["value"])).sort_values("gamma")
    apart = logs["value"] - logs.groupby([*WHERE, "shift", "arm", "seed"])["value"].transform("first")
    return logs.assign(moved=apart.abs()).groupby(["model", "shift", "arm"])["moved"].max().reset_index()


def against_baseline(rows: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The rows of one metric with `gain`: how much better each is than the baseline's of its test and seed."""
    by = [*WHERE, "shift", "tested", "gamma", "seed"]
    baseline = params.comparison.baseline
    score = np.where(rows["metric"] == "rmse", -np.log(rows["value"].where(rows["value"] > 0)), rows["value"])
    rows = rows.assign(score=score)
    of_baseline = select(rows, arm=baseline).set_index(by)["score"].rename("of_baseline")
    trained = rows[(rows["arm"] != baseline) & rows["arm"].isin(params.arms)]
    joined = trained.join(of_baseline, on=by, how="inner")
    return joined.assign(gain=joined["score"] - joined["of_baseline"])
