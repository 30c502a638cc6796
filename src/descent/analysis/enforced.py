"""P3: the constraints are enforced: enough constrained cells hold them, and descent is active in each."""

from typing import Any

import numpy as np
import pandas as pd

from descent.analysis.case import Case
from descent.analysis.keys import SEEDLESS
from descent.analysis.lost import truth
from descent.primal_dual.problem import Problem

ENOUGH = 0.8  # share of the constrained cells that are feasible and active
SETTLED = 0.25  # largest standard deviation of a multiplier, as a share of its mean, that counts as settled
LOSSES = ("violation", "multiplier", "validation_loss")  # what a relaxed problem is checked on, by layer


def enforced(case: Case) -> str:
    """P3: enough of the constrained cells are feasible on validation data, each with some active constraint on
    descent; of a study that varies a value, enough of each value's. Of parts published before 2026-11-30 no row
    tells of descent alone, and any constraint counts, the cap too.

    Feasible: the row `feasible`; or, where h(u) = rho / 2 |u|^2 relaxes the problem, so that u settles at lambda /
    rho, the same with v_l - lambda_l / rho in place of v_l, a margin asked for as in training, and multipliers
    that have settled. Slacks that start again with every epoch never get there, and forgive nothing.
    """
    if not case.claim.enforced:
        return ""
    ours = case.of_arm("ours").set_index([*SEEDLESS, "seed"])
    if ours["active"].isna().all():
        return "no row says whether the constraints were active"
    feasible = truth(ours["feasible"]) & ~ours["lost"]
    feasible |= _relaxed(case, ours[~feasible & ~ours["lost"]]).reindex(ours.index, fill_value=False)
    held = ours.assign(feasible=feasible, acts=truth(acting(ours)) & ~ours["lost"])
    return too_few(held.reset_index(), of_each=bool((case.pairs["varied"] != "").any()))


def acting(cells: pd.DataFrame) -> pd.Series:
    """Whether some constraint on descent acted in each cell; of one of which that is not told, any constraint."""
    if "descent_active" not in cells:
        return cells["active"]
    return cells["descent_active"].where(cells["descent_active"].notna(), cells["active"])


def too_few(cells: pd.DataFrame, of_each: bool) -> str:
    """P3: why too few cells hold and have an active constraint, in words; empty where enough do.

    Args:
        cells: `varied`, as truths `feasible` and `acts`, and where they have it `descent_active`, for the words.
        of_each: whether the claim compares values that a study varies; then it is asked of each.
    """
    groups = [own for _, own in cells.groupby("varied")] if of_each else [cells]
    own = min(groups, key=lambda group: (group["feasible"] & group["acts"]).mean())
    if (own["feasible"] & own["acts"]).mean() >= ENOUGH:
        return ""
    told = "descent_active" in cells and cells["descent_active"].notna().any()
    of_descent = " on descent" if told else ""
    value = f" at {own['varied'].iloc[0]}" if of_each else ""
    return (
        f"{int(own['feasible'].sum())} of {len(own)} constrained cells{value} are feasible on validation data and "
        f"{int(own['acts'].sum())} have an active constraint{of_descent}; {ENOUGH:.0%} must have both"
    )


def settles(problem: Problem) -> bool:
    """Whether a problem is relaxed and u rests at lambda / rho, as slacks that start again every epoch do not."""
    return problem.resilience == "decay" or (problem.resilience == "slacks" and not problem.restart)


def _relaxed(case: Case, cells: pd.DataFrame) -> pd.Series:
    """Whether infeasible cells, a row each, hold to what a relaxed problem leaves of the constraints."""
    held = pd.Series(False, cells.index)
    if cells.empty:
        return held
    params, keys = case.evidence.params, cells.index.names
    parts = [case.rows(name, "validation").set_index([*keys, "layer"])["value"].rename(name) for name in LOSSES]
    table = pd.concat(parts, axis=1).reset_index("layer").sort_values([*keys, "layer"])
    for place, cell in cells.iterrows():
        dataset, model, arm, *_, varied, _ = place
        problem = params.problem(dataset, model, _overrides(case, arm, varied), of=arm)
        if not settles(problem) or not cell["multiplier_oscillation"] <= SETTLED:
            continue
        rows = table.loc[[place]]
        left = rows["violation"] - _slack(rows, cell["rho"], problem)
        held[place] = (left[rows["layer"] >= problem.cap_layer] <= params.section(case.task).tolerance).all()
    return held


def _overrides(case: Case, arm: str, varied: str) -> dict[str, Any] | None:
    """What a study has in place of values of an arm's objective."""
    params, name = case.evidence.params, case.claim.experiment
    return params.studied(name).replaced(arm, varied) if name in params.study else None


def _slack(rows: pd.DataFrame, rho: float, problem: Problem) -> pd.Series:
    """The relative violation that u = lambda / rho leaves of each layer's constraint, less the margin that is
    asked for beyond it: a difference of losses is relative to f_{l-1}, of the cap to R0; a ratio is relative; of a
    logarithm e^u stands for the ratio."""
    u, cap = rows["multiplier"] / rho, rows["layer"] == problem.cap_layer
    asked = np.where(cap, 1.0, 1 - problem.alpha)
    trained_for = np.where(cap, 1 - problem.margin, 1 - problem.alpha - problem.margin)
    if problem.constraint == "difference":
        return u / rows["validation_loss"].shift().mask(cap, problem.R0) + trained_for - asked
    if problem.constraint == "log":
        return np.exp(u) * trained_for - asked
    return u.where(~cap, u * trained_for) + trained_for - asked
