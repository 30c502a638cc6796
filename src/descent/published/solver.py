"""Whether the solver held in a published run: feasible, active, calm cells; what the rule for weights decides."""

import numpy as np
import pandas as pd

from descent.analysis import twice
from descent.analysis.enforced import acting
from descent.analysis.keys import CELL, PAIR, SETTING, tuples
from descent.analysis.lost import truth
from descent.analysis.select import last_layer, select
from descent.components import TASKS
from descent.config import Params

ALPHA = "alpha"  # the study that varies it
MARGIN = "margin"  # what the pilots vary that choose one
WHOSE = ["arm", "dataset", "model"]  # what says how an arm is held to the constraints
SHARES = {"feasible": "validation", "feasible_test": "test", "acts": "active"}


def by_setting(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per data set, model, depth and level, of the cells of the first arm that enforces the constraints.

    Columns: `cells`, `diverged`; how many of the cells are feasible on `validation` and on `test` data and of how
    many some constraint is `active` (enforced.acting says which count); the mean share of feasible `epochs`; how
    f_0 swings in the last quarter of the epochs (standard deviation over mean): `swing_f0`, the median over the
    cells, `largest_f0`, and `swing_f0_baseline`, the median of the baseline's cells, which have no multipliers; of
    the multiplier that swings most, `swing_multiplier`, the median; the mean share of `clipped` steps, and
    `clipped_baseline`, that of the baseline's cells.
    """
    grid = cells[cells["experiment"].isin(TASKS)]
    own = grid[grid["arm"].isin(params.enforcing[:1])]
    own = own.assign(acts=truth(acting(own))).astype(dict.fromkeys(SHARES, float))
    groups = own.groupby(SETTING)
    found = pd.DataFrame({"cells": groups.size(), "diverged": groups["diverged"].sum().astype(int)})
    found = found.assign(**{word: groups[name].sum().astype(int) for name, word in SHARES.items()})
    swing = groups["oscillation"]
    theirs = grid[grid["arm"] == params.comparison.baseline].groupby(SETTING)
    return found.assign(
        epochs=groups["feasible_epochs"].mean(),
        swing_f0=swing.median(),
        largest_f0=swing.max(),
        swing_f0_baseline=theirs["oscillation"].median().reindex(found.index),
        swing_multiplier=groups["multiplier_oscillation"].median(),
        clipped=groups["clipped"].mean(),
        clipped_baseline=theirs["clipped"].mean().reindex(found.index),
    ).reset_index()


def by_tolerance(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Which share of the cells that enforce the constraints would be feasible by what tolerance.

    One row per model and alpha, of the tasks' grids and of the study `alpha`: `cells`, the task's `tolerance`, the
    shares whose worst relative violation on validation data is at most 0, half the tolerance and the tolerance
    (`at_zero`, `at_half`, `at_tolerance`; a cell that diverged counts as none), and `worst`, its median over the
    cells that did not diverge.
    """
    own = cells[cells["experiment"].isin([*TASKS, ALPHA]) & cells["arm"].isin(params.enforcing)]
    own = _with_worst(own, params).assign(study=~own["experiment"].isin(TASKS))
    limits = {"at_zero": 0.0, "at_half": own["tolerance"] / 2, "at_tolerance": own["tolerance"]}
    shares = {name: (own["worst"] <= limit).astype(float) for name, limit in limits.items()}
    own = own.assign(**shares)
    own = own.sort_values("study", kind="stable")  # which shares the grid's cells: those count
    own = own.drop_duplicates([*PAIR, "arm", "alpha"])
    groups = own.groupby(["model", "alpha"])
    found = groups[[*shares, "tolerance"]].mean().assign(cells=groups.size(), worst=groups["worst"].median())
    return found.reset_index()


def pilots(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """How the constraints held in the pilots of a margin, on validation data: the studies in use that vary it and
    never see test data.

    One row per data set, model, depth, level, and `margin` that was tried, of the cells that enforce
    constraints: `cells`; how many `diverged`; how many violate by at most half the tolerance (`within_half`);
    and of those that did not diverge the `largest` relative violation, its `median`, and the mean
    `validation_loss` of the last layer.
    """
    names = [name for name, study in params.in_use.items() if study.vary == MARGIN and not study.tested]
    own = _with_worst(cells[cells["experiment"].isin(names) & cells["arm"].isin(params.enforcing)], params)
    own = own.assign(
        within=own["worst"] <= own["tolerance"] / 2,
        validation_loss=own["validation_loss"].astype(float).mask(own["diverged"]),
        margin=own["varied"].astype(float),
    )
    groups = own.groupby([*SETTING, MARGIN])
    found = groups.agg(
        cells=("seed", "size"),
        diverged=("diverged", "sum"),
        within_half=("within", "sum"),
        largest=("worst", "max"),
        median=("worst", "median"),
        validation_loss=("validation_loss", "mean"),
    )
    return found.reset_index()


def _with_worst(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """With the `tolerance` of its task, and `worst`, its worst violation, of a cell that did not diverge."""
    diverged = truth(cells["diverged"])
    return cells.assign(
        diverged=diverged,
        tolerance=cells["model"].map(params.tolerance_of).astype(float),
        worst=cells["worst_violation"].astype(float).mask(diverged),
    )


def longer(cells: pd.DataFrame) -> pd.DataFrame:
    """What twice the epochs made of the cells that studies of it trained, by data set, model, depth and arm.

    Columns: `cells`; how many of them `diverged` then; `lower`, by what share f_L on validation data is lower then
    (mean over those that did not, nor before; negative: it is higher), and its `standard_error`; how many are
    `feasible` and `descending`, and were so with the epochs of the grid, `feasible_before` and
    `descending_before`.
    """
    longer = twice.cells(cells)
    counted = [f"{name}{when}" for name in ("feasible", "descending") for when in (twice.BEFORE, "")]
    groups = longer[longer["twin"]].astype(dict.fromkeys(counted, float)).groupby([*SETTING, "arm"])
    sums = groups[counted].sum(min_count=1)
    found = groups.agg(
        cells=("seed", "size"),
        diverged=("diverged", "sum"),
        lower=("lower", "mean"),
        standard_error=("lower", "sem"),
    )
    return pd.concat([found.astype({"diverged": int}), sums], axis=1).reset_index()


def selection(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What choosing weights by feasibility would have changed, by arm, on validation losses of the shown seed.

    That rule takes the epoch with the lowest f_L among those whose worst violation is within the tolerance (of an
    arm without constraints among all), and where there is none the one with the smallest violation; none of the
    warm-up, whose weights are never reported. Columns: arm, `cells`, `earlier`, the share of the cells of which it
    takes another epoch than the last, and `lower`, the mean of ln(f_L of the last epoch / f_L of the epoch that it
    takes).
    """
    rows = results[results["experiment"].isin(TASKS)]
    if rows[rows["metric"] == "loss_epoch"].empty:
        return pd.DataFrame(columns=["arm", "cells", "earlier", "lower"])
    losses = last_layer(select(rows, metric="loss_epoch")).set_index([*CELL, "bin"])["value"]
    worst = select(rows, metric="violation_epoch").groupby([*CELL, "bin"])["value"].max()
    table = pd.DataFrame({"loss": losses, "worst": worst}).reset_index().dropna(subset="loss")
    whose = table[WHOSE].drop_duplicates()
    warm_up = [_warm_up(params, *own) for own in tuples(whose, WHOSE)]
    table = table.merge(whose.assign(warm_up=warm_up))
    table = table[table["bin"] > table["warm_up"]]
    tolerance = table["model"].map(params.tolerance_of).astype(float)
    enforced = table["arm"].isin(params.enforcing)
    missed = (table["worst"] - tolerance).clip(lower=0).where(enforced & table["worst"].notna(), 0.0)
    table = table.assign(missed=missed).sort_values([*CELL, "missed", "loss", "bin"])
    chosen = table.groupby(CELL).head(1).set_index(CELL)
    last = table.sort_values("bin").groupby(CELL).tail(1).set_index(CELL)
    lower = np.log(last["loss"] / chosen["loss"].reindex(last.index))
    both = pd.DataFrame({"lower": lower, "earlier": chosen["bin"].reindex(last.index) < last["bin"]})
    groups = both.groupby("arm")
    return groups.mean().assign(cells=groups.size()).reset_index()[["arm", "cells", "earlier", "lower"]]


def _warm_up(params: Params, arm: str, dataset: str, model: str) -> int:
    """The epochs at the start in which an arm's constraints or penalties rest; 0 of one that has none."""
    return int(params.objective(arm, dataset, model).get("warmup_epochs", 0))
