"""Whether the constraints on descent of trained cells acted, from their histories.

These rows are made anew at each evaluation, which costs milliseconds a cell: no score in the store waits for them.
"""

import pandas as pd

from descent.runner.items import Item
from descent.runner.stored import Stored


def rows(item: Item, profile: str) -> pd.DataFrame:
    """`active_epochs` and `active_reported` of every cell whose arm has multipliers; empty where none has."""
    told = [
        vars(cell) | {"gamma": cell.eps, "layer": cell.layers, "metric": metric, "value": value}
        for cell in item.cells
        for metric, value in acted(Stored(item.runs / cell.name)).items()
    ]
    return pd.DataFrame(told).assign(profile=profile, split="validation")


def acted(stored: Stored) -> dict[str, float]:
    """Of a cell the share of its epochs in which the mean multiplier of some constraint on descent is above zero,
    and whether one is in the epoch whose weights are reported (which a cell that diverged at once has not). The
    cap's does not count, as in diagnostics.descent_active."""
    log = stored.history
    if "multiplier_mean" not in log:
        return {}
    on_descent = log["layer"] > stored.record["setting"]["values"]["cap_layer"]
    acts = log[on_descent].groupby("epoch")["multiplier_mean"].max() > 0
    reported = stored.record["epoch"]
    at_reported = {"active_reported": float(acts[reported])} if reported in acts else {}
    return {"active_epochs": float(acts.sum()) / stored.epochs} | at_reported
