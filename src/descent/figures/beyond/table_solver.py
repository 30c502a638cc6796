"""Not in the paper: forms of the constrained problem and steps of its duals, on the same cells."""

import pandas as pd

from descent.analysis import controls
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.parts import curves, remarks, style, tables

STUDY = "solver"
TITLE = "Forms of the constraint and steps of the duals"
CAPTION = """
Ours, not the paper's. Means over seeds of the constrained arm in several forms, and of arms beside it. Feasible:
of the seeds, on validation data at the end; of the epochs after the warm-up. Active: the multiplier of some
constraint on descent is above zero over the last quarter of training, of the seeds. Swing: the standard deviation
over the mean in that quarter, of the training loss f_0 and, the largest of all layers, of the multipliers.
Slackness: the sum of lambda_l |v_l - u_l| beside f_L in the last epoch, zero in every solution. RMSE (0-255) on
test clips over the levels of the sweep up to the training level (in) and above it (out). Clipped: of the steps,
those whose gradient was clipped. Time: of training, over that of the baseline of `comparison`. A cell that
diverged scores as the map to zero. A dash: no such number.
"""
PARAMETERS = [f"study.{STUDY}", f"profiles.${{profile}}.studies.{STUDY}", "video.tolerance", "training"]
SHARES = {  # columns of a table of cells, under their heads
    "feasible": ("feasible", "seeds"),
    "feasible_epochs": ("feasible", "epochs"),
    "descent_active": ("", "active"),
    "oscillation": ("swing", "f_0"),
    "multiplier_oscillation": ("swing", "lambda"),
    "slackness": ("", "slackness"),
}
DIGITS = 2  # of an RMSE
NUMBERS = {"rmse_in": ("RMSE", "in"), "rmse_out": ("RMSE", "out")}


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per form and per arm beside: the means, how many seeds, how many diverged.

    Raises UserError without rows of the study.
    """
    curves.required(results, "evaluate_studies", experiment=STUDY)
    columns = [*SHARES, *NUMBERS, "clipped", "slower"]
    table = controls.of_study(results, params, STUDY, columns)
    return table[["arm", "varied", *columns, "lost", "trained"]]


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row per form as text under a two-row header; the lowest RMSE of rows without divergence bold,
    unless another is printed alike."""
    heads = [("", "form"), *SHARES.values(), *NUMBERS.values(), ("", "clipped"), ("", "time"), ("", "diverged")]
    whole = table[table["lost"] == 0][list(NUMBERS)].round(DIGITS)
    best = whole.min().where((whole == whole.min()).sum() == 1)
    rows = []
    for row in table.to_dict("records"):
        errors = [
            tables.number(row[name], DIGITS, bool(round(row[name], DIGITS) == best[name])) for name in NUMBERS
        ]
        lost = f"{row['lost']} of {row['trained']}" if row["trained"] else UNKNOWN
        shares = [_percent(row[name]) for name in (*SHARES, "clipped")]
        words = [_form(row), *shares[:-1], *errors, shares[-1], tables.number(row["slower"]), lost]
        rows.append(words)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """The setting, and the forms of which no cell has been trained."""
    gone = [_form(row) for row in table[table["trained"] == 0].to_dict("records")]
    lines = [remarks.setting(params, params.studied(STUDY))]
    return lines + ([f"No cell was trained of: {', '.join(gone)}."] if gone else [])


def _form(row: dict) -> str:
    return row["varied"] or style.name(row["arm"])


def _percent(share: float) -> str:
    return UNKNOWN if pd.isna(share) else f"{100 * share:.3g}%"
