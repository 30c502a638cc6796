"""Not in the paper: what its theory bounds, in numbers."""

import numpy as np
import pandas as pd

from descent.analysis import theory
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.parts import curves, style, tables

TASKS = ("video", "text")
TITLE = "The theory's bounds, in numbers"
CAPTION = """
Ours, not the paper's; test data, losses in the units of the task. Of every setting at the headline training level,
and of every alpha of the ablation, the cell with the lowest validation loss of its seeds or trials. zeta: the
largest difference between a layer's validation and test loss, in place of the sample complexity (training data are
not scored). missed: constraints that do not hold at the training level, of all; their share stands for delta. v:
the largest violation, at the training level and at the largest test noise, beside the bound of Corollary 3 there
(lower is better; at most 0: every layer descends enough). best: the lowest loss of any layer minus the lowest
known of the data set, beside Theorem 2's radius zeta / alpha without its term in nu; bold where it lies within.
What cannot be measured: nu, K nu, P*.
"""
PARAMETERS = ["eps", "text.eps", "video.evaluation.gammas", "text.evaluation.gammas", "study.alpha"]
DIGITS = 4
left_out = curves.without_constraints


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per cell of theory.shown: its identity, alpha, and the measured quantities.

    Raises UserError where video or text, though in use, has no rows.
    """
    for task in (task for task in params.tasks if task in TASKS):
        curves.required(results, f"evaluate_{task}", experiment=task)
    rows = []
    losses = theory.layer_losses(results)
    for _, cell in theory.shown(results, params).iterrows():
        found = theory.of_cell(losses, cell, params)
        own = np.abs(found.levels - cell["eps"]) < 1e-9
        numbers = {
            "alpha": params.held_to(cell).alpha,
            "zeta": found.zeta,
            "missed": int(found.violated.sum()),
            "constraints": len(found.violated),
            "violation": float(found.worst[own][0]),
            "violation_out": float(found.worst[-1]),
            "tau": found.tau,
            "bound_out": float(found.bound[-1]),
            "best": found.gap,
            "radius": found.radius,
        }
        rows.append(cell.to_dict() | numbers)
    return pd.DataFrame(rows)


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row per cell as text under a two-row header."""
    rows = []
    for row in table.to_dict("records"):
        identity = [*(style.name(row[word]) for word in ("dataset", "model", "arm")), str(row["layers"])]
        numbers = [tables.number(row[name], DIGITS) for name in ("violation", "violation_out", "bound_out")]
        best = tables.number(row["best"], DIGITS, bold=row["best"] <= row["radius"] < np.inf)
        measured = [
            f"{row['alpha']:g}",
            tables.number(row["zeta"], DIGITS),
            f"{row['missed']} of {row['constraints']}",
        ]
        radius = tables.number(row["radius"], DIGITS) if np.isfinite(row["radius"]) else UNKNOWN
        rows.append([row["experiment"], *identity, *measured, *numbers, best, radius])
    heads = [("", word) for word in ("experiment", "data set", "model", "arm", "L", "alpha", "zeta", "missed")]
    heads += [("Corollary 3", word) for word in ("v at eps", "v at largest noise", "bound there")]
    heads += [("Theorem 2", word) for word in ("best", "zeta / alpha")]
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """How often the bounds hold, by arm; nothing where every cell diverged."""
    lines = []
    for arm, rows in table.groupby("arm") if len(table) else ():
        within = int((rows["violation_out"] <= rows["bound_out"]).sum())
        near = int(((rows["best"] <= rows["radius"]) & (rows["radius"] < np.inf)).sum())
        lines.append(
            f"{style.name(arm)}: Corollary 3's bound holds at the largest noise in {within} of {len(rows)} cells; "
            f"the best layer is within zeta / alpha of the best known loss in {near}."
        )
    return lines
