"""Whether the solver held in a published run: feasible, active, calm cells; what the rule for weights decides."""

import numpy as np
import pandas as pd

from descent.analysis.select import CELL, last_layer, select
from descent.components import TASKS
from descent.config import Params

SETTING = ["dataset", "model"]
SHARES = {"feasible": "validation", "feasible_test": "test", "active": "active"}


def solver(cells: pd.DataFrame, results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per data set and model, of the cells whose arm enforces the constraints.

    Columns: `cells`, `diverged`; shares of the cells that are feasible on `validation` and on `test` data and of
    which some constraint is `active`; `moved`, the median over cells of the largest difference of a layer's weight
    from ERM's (1 of the last layer, else 0) at the end; the mean share of feasible `epochs`; the median and the
    largest `oscillation` of f_0 in the last quarter of the epochs; the mean share of `clipped` steps.
    """
    own = cells[cells["arm"].isin(params.enforcing) & cells["experiment"].isin(TASKS)]
    weights = select(results, metric="weight")
    apart = (weights["value"] - (weights["layer"] == weights["layers"])).abs()
    moved = apart.groupby([weights[key] for key in CELL]).max().rename("moved")
    own = own.astype({name: float for name in SHARES}).join(moved, on=CELL)
    groups = own.groupby(SETTING)
    found = pd.DataFrame({"cells": groups.size(), "diverged": groups["diverged"].sum().astype(int)})
    found = found.assign(**{word: groups[name].mean() for name, word in SHARES.items()})
    swing = groups["oscillation"]
    return found.assign(
        moved=groups["moved"].median(),
        epochs=groups["feasible_epochs"].mean(),
        oscillation=swing.median(),
        oscillation_most=swing.max(),
        clipped=groups["clipped"].mean(),
    ).reset_index()


def selection(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What choosing weights by feasibility would have changed, by arm, on validation losses of the shown seed.

    That rule takes the epoch with the lowest f_L among those whose worst violation is within the tolerance (of an
    arm without constraints among all), and where there is none the one with the smallest violation. Columns: arm,
    `cells`, `earlier`, the share of the cells of which it takes another epoch than the last, and `lower`, the
    mean of ln(f_L of the last epoch / f_L of the epoch that it takes).
    """
    rows = results[results["experiment"].isin(TASKS)]
    if rows[rows["metric"] == "loss_epoch"].empty:
        return pd.DataFrame(columns=["arm", "cells", "earlier", "lower"])
    losses = last_layer(select(rows, metric="loss_epoch")).set_index([*CELL, "bin"])["value"]
    worst = select(rows, metric="violation_epoch").groupby([*CELL, "bin"])["value"].max()
    table = pd.DataFrame({"loss": losses, "worst": worst}).reset_index().dropna(subset="loss")
    models = params.components["models"]
    tolerance = table["model"].map(
        {name: getattr(params, said["TASK"]).tolerance for name, said in models.items()}
    )
    enforced = table["arm"].isin(params.enforcing)
    missed = (table["worst"] - tolerance).clip(lower=0).where(enforced & table["worst"].notna(), 0.0)
    table = table.assign(missed=missed).sort_values([*CELL, "missed", "loss", "bin"])
    chosen = table.groupby(CELL).head(1).set_index(CELL)
    last = table.sort_values("bin").groupby(CELL).tail(1).set_index(CELL)
    lower = np.log(last["loss"] / chosen["loss"].reindex(last.index))
    both = pd.DataFrame({"lower": lower, "earlier": chosen["bin"].reindex(last.index) < last["bin"]})
    groups = both.groupby("arm")
    return groups.mean().assign(cells=groups.size()).reset_index()[["arm", "cells", "earlier", "lower"]]
