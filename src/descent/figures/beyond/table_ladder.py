"""Not in the paper: from its ERM to its constrained arm in steps, each of which adds one thing."""

import pandas as pd

from descent.analysis import controls
from descent.analysis.wording import UNKNOWN, bracketed, known
from descent.config import Params
from descent.figures.parts import curves, remarks, style, tables

STUDY = "controls"
MODEL = "dust_shared"  # of the first step: the paper's ERM has one dictionary
TITLE = "From ERM to the constrained arm, step by step"
CAPTION = """
Ours, not the paper's. RMSE (0-255) on held-out test clips, mean over seeds: in, levels of the sweep up to the
training level; out, those above it. The first row has one dictionary for all layers, all others a dictionary a
layer; from the third row on the objective of a row replaces the one above. Increments: mean over these levels of
ln(RMSE before / RMSE after), in percent, against the last row above with a cell that did not diverge and against
the first row, over the seeds that both have, with Student's 95 % interval over seeds in brackets (none for one
seed); positive: a smaller error. Descends: the share of seeds whose validation loss falls strictly at every layer
from the first constrained one. A cell that diverged scores as the map to zero. A step may carry another learning
rate too: the compared arms have each their best, a replay its twin's, the others the model's.
"""
PARAMETERS = [
    "comparison",
    "video.evaluation.gammas",
    f"study.{STUDY}",
    f"profiles.${{profile}}.studies.{STUDY}",
]
INCREMENTS = {"step": "against the row above, %", "all": "against the first row, %"}


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per step that has cells: model, arm, what `controls.ladder` says of it.

    Raises UserError without rows of the study.
    """
    curves.required(results, "evaluate_studies", experiment=STUDY)
    table = controls.ladder(results, params, STUDY, MODEL)
    known = {"rmse_in", "rmse_out", "descending", "rmse_out_seeds"}
    known |= {name for name in table if name.startswith(tuple(INCREMENTS)) and not name.endswith("_seeds")}
    table = table[["model", "arm", *(name for name in table if name in known)]]
    return table.rename(columns={"rmse_out_seeds": "seeds"})


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row per step as text under a two-row header."""
    heads = [("", "step"), ("", "seeds"), ("RMSE", "in"), ("RMSE", "out")]
    heads += [(group, where) for group in INCREMENTS.values() for where in ("in", "out")] + [("", "descends")]
    rows = []
    for place, row in enumerate(table.to_dict("records")):
        increments = [
            _increment(row, f"{to}_{where}") if place else UNKNOWN for to in INCREMENTS for where in ("in", "out")
        ]
        share = known(row["descending"], ".0%")
        numbers = [tables.number(row[f"rmse_{where}"]) for where in ("in", "out")]
        rows.append([_words(row, params), f"{row['seeds']:.0f}", *numbers, *increments, share])
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """The setting, and the steps of which no cell has been trained."""
    found = set(table[["model", "arm"]].itertuples(index=False, name=None))
    gone = [rung for rung in controls.rungs(params, STUDY, MODEL) if rung not in found]
    lines = [remarks.setting(params, params.studied(STUDY))]
    if gone:
        listed = ", ".join(_words({"model": model, "arm": arm}, params) for model, arm in gone)
        lines.append(f"Left out, as no such cell was trained: {listed}.")
    return lines


def _words(row: dict, params: Params) -> str:
    """What a step adds; the baselines tell their model."""
    if row["arm"] != params.comparison.baseline:
        return f"+ {style.name(row['arm'])}"
    step = style.name(row["arm"]) if row["model"] == MODEL else "+ capacity"
    return f"{step} ({style.name(row['model'])})"


def _increment(row: dict, name: str) -> str:
    return bracketed(row[name], (row[f"{name}_low"], row[f"{name}_high"]))
