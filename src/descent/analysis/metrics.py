"""The numbers of every arm that the page shows, and the few of one arm that `dvc metrics` compares."""

from typing import Any

import pandas as pd

from descent.analysis.keys import CURVE, SETTING
from descent.analysis.select import select
from descent.analysis.summary import best_depth, pairs
from descent.analysis.trials import best_text, best_trial
from descent.cells import headline
from descent.components import TASKS
from descent.config import Params


def metrics(cells: pd.DataFrame, params: Params) -> dict[str, Any]:
    """By task, measure and arm, all at the task's headline training level; what is not known is left out.

    RMSE, areas and accuracies: the median over data sets, models and, of video, seeds (a median, because one
    collapsed run would rule a mean), of video each at its best depth, of text what trials.best_text shows, of the
    language model the mean over its cells. Shares: of all cells of that level; `wins_share`: of the settings in
    which the arm `comparison.ours` has the lower mean RMSE, the larger area (trials.best_trial).
    """
    levels = {task: select(cells, experiment=task, eps=headline(params, task)) for task in TASKS}
    parts = {task: MEASURED[task](rows, params) for task, rows in levels.items() if len(rows)}
    return {task: part for task, part in parts.items() if part}


def followed(cells: pd.DataFrame, params: Params) -> dict[str, float]:
    """Of the arm named by `method`, in names short enough for the columns of `dvc exp show`.

    `rmse` and `rmse_ood` of video in and out of distribution, `acc_ood` of text and `lm_ood` of the language
    model, as `metrics` has them; `descent` and `feasible`: shares of all its cells at the tasks' headline
    levels, whatever the arm is held to. What is not known is left out.
    """
    numbers = metrics(cells, params)
    found = {name: numbers.get(task, {}).get(measure, {}) for name, (task, measure) in FOLLOWED.items()}
    of_arm = {name: by[params.method] for name, by in found.items() if params.method in by}
    levels = [select(cells, experiment=task, eps=headline(params, task)) for task in TASKS]
    rows = select(pd.concat(levels), arm=params.method)
    shares = {"descent": rows["descending"].mean(), "feasible": rows["feasible"].mean()}
    return of_arm | {name: round(float(share), 4) for name, share in shares.items() if pd.notna(share)}


def _video(rows: pd.DataFrame, params: Params) -> dict[str, Any]:
    rows = select(rows, trained=True)
    shown = rows.merge(best_depth(rows)[[*CURVE, "layers"]])
    both = pairs(rows, "mean_rmse", params.comparison).groupby(SETTING).mean()
    numbers = _by_arm(rows, shown, ["rmse_in_distribution", "rmse_out_of_distribution"], params)
    worst = _held(rows, params).groupby("arm")["worst_violation"].max()
    return numbers | _known(worst_violation=worst) | _share(both["ours"] < both["baseline"])


def _text(rows: pd.DataFrame, params: Params) -> dict[str, Any]:
    both = pairs(best_trial(rows, params), "area", params.comparison, by=SETTING)  # an arm's seeds are a row
    numbers = _by_arm(rows, best_text(rows, params), ["area", "accuracy_out_of_distribution"], params)
    return numbers | _share(both["ours"] > both["baseline"])


def _lm(rows: pd.DataFrame, params: Params) -> dict[str, Any]:
    names = ["area", "accuracy_out_of_distribution"]
    return _by_arm(rows, rows.groupby(CURVE)[names].mean().reset_index(), names, params)


MEASURED = {"video": _video, "text": _text, "lm": _lm}
FOLLOWED = {
    "rmse": ("video", "rmse_in_distribution"),
    "rmse_ood": ("video", "rmse_out_of_distribution"),
    "acc_ood": ("text", "accuracy_out_of_distribution"),
    "lm_ood": ("lm", "accuracy_out_of_distribution"),
}


def _by_arm(rows: pd.DataFrame, shown: pd.DataFrame, names: list[str], params: Params) -> dict[str, Any]:
    """What all tasks have: medians of what is shown, the shares of cells that descend and that are feasible."""
    medians = {name: shown.groupby("arm")[name].median() for name in names}
    shares = {"descending_share": rows.groupby("arm")["descending"].mean()}
    shares["feasible_share"] = _held(rows, params).groupby("arm")["feasible"].mean()
    return _known(**medians, **shares)


def _held(rows: pd.DataFrame, params: Params) -> pd.DataFrame:
    return rows[rows["arm"].isin(params.enforcing)]


def _known(**measures: pd.Series) -> dict[str, dict[str, float]]:
    numbers = {name: {arm: float(f"{v:.5g}") for arm, v in by.dropna().items()} for name, by in measures.items()}
    return {name: values for name, values in numbers.items() if values}


def _share(wins: pd.Series) -> dict[str, float]:
    return {"wins_share": round(float(wins.mean()), 4)} if len(wins) else {}
