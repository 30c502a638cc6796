"""What the page says of the arms before any figure: whether constraints acted and held, and their measures."""

from typing import Any

import pandas as pd

from descent.analysis.wording import UNKNOWN
from descent.components import TASKS
from descent.config import Params

# A measure of `dvc metrics` in words for a reader; one that is not here stands with its name.
MEASURES = {
    "rmse_in_distribution": "RMSE up to the training level (0-255, median, lower is better)",
    "rmse_out_of_distribution": "RMSE above the training level (0-255, median, lower is better)",
    "worst_violation": "largest relative violation (at most 0: satisfied)",
    "accuracy_out_of_distribution": "accuracy above the training level (higher is better)",
    "area": "area under accuracy against test noise (higher is better)",
    "descending_share": "cells that descend at every layer",
    "feasible_share": "cells that ended feasible",
    "wins_share": "settings in which our arm is the better one",
}


def arms(params: Params) -> list[dict[str, str]]:
    """The arms in use: their words in params.yaml, their labels, and what each is here for."""
    roles = {params.comparison.ours: "ours", params.comparison.baseline: "the baseline"}
    held = {arm: "holds its cells to the constraints" for arm in params.enforcing}
    return [
        {"word": arm, "label": params.label(arm), "role": roles.get(arm, ""), "held": held.get(arm, "")}
        for arm in params.arms
    ]


def held(cells: pd.DataFrame, params: Params) -> list[dict[str, str]]:
    """A row for every task and arm with trained cells: counts and shares, in words, as far as they are known.

    What is asked of constraints alone (feasible, active) is told of arms that enforce them.
    """
    rows = []
    for task in TASKS:
        trained = cells[cells["trained"] & (cells["experiment"] == task)]
        for arm in (arm for arm in params.arms if arm in set(trained["arm"])):
            own = trained[trained["arm"] == arm]
            asked = own if arm in params.enforcing else own.iloc[:0]
            share = asked["active_epochs"].mean()
            rows.append(
                {"task": task, "arm": params.label(arm), "cells": str(len(own))}
                | {name: _count(asked[name]) for name in ("feasible", "feasible_test")}
                | {"active": _count(asked["descent_active"])}
                | {"active_epochs": UNKNOWN if pd.isna(share) else f"{100 * share:.0f} %"}
                | {name: _count(own[name]) for name in ("descending", "diverged")}
            )
    return rows


def infeasible(cells: pd.DataFrame, params: Params) -> dict[str, list[dict[str, Any]]]:
    """By task the cells that ended infeasible on validation data though their arm enforces the constraints."""
    labels = {arm: params.label(arm) for arm in params.arms}
    missed = cells[cells["trained"] & cells["infeasible"]].replace({"arm": labels})
    by_task = {task: missed[missed["experiment"] == task].to_dict("records") for task in TASKS}
    return {task: rows for task, rows in by_task.items() if rows}


def measures(metrics: dict[str, Any], params: Params) -> list[dict[str, Any]]:
    """A row for every measure of `dvc metrics`: task, name in words, a number for each arm in use or for all."""
    rows = []
    for task, named in metrics.items():
        for name, value in named.items():
            row = {"task": task, "name": MEASURES.get(name, name.replace("_", " ")), "by_arm": [], "whole": ""}
            if isinstance(value, dict):
                row["by_arm"] = [f"{value[arm]:g}" if arm in value else UNKNOWN for arm in params.arms]
            else:
                row["whole"] = f"{value:g}"
            rows.append(row)
    return rows


def _count(truths: pd.Series) -> str:
    known = truths.dropna()
    return f"{int(known.astype(bool).sum())} of {len(known)}" if len(known) else UNKNOWN
