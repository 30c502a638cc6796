"""Not in the paper: what our arm gains over the baseline under every shift that training has not seen."""

import pandas as pd

from descent import components
from descent.analysis import shift_estimates, shifts
from descent.analysis.select import select
from descent.analysis.wording import UNKNOWN, bracketed, signed
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, pairs, remarks, style, tables

TASKS = components.TASKS
TITLE = "Gain over ERM under shifts that training has not seen"
CAPTION = """
Ours, not the paper's. Gain of our arm over the baseline, cells of the headline training level: of video 100
ln(RMSE of the baseline / ours), about the percent by which the error is smaller; of text and the language model
the difference in accuracy, in points. The gain at each level of a shift, from the lowest to the highest, with a
star where Student's 95 % interval over seeds leaves out zero, each level by itself (what other test items would
change is not in it), then the mean over levels, and in the last row of a model over those of its shifts that cost
it something and leave it something (the others have a dagger). All are the protocol's means, trimmed over data
sets and depths, then over seeds; what is trimmed differs from level to level, so that a mean over levels can lie
a little beside their mean. Its 95 % interval is over seeds and test items (none for one seed). Where levels are
called gamma, the strength is the one at which the input errs as under Gaussian noise of that level. A control
must move no error: shown is by how much it does at most.
"""
SILENT = (
    f"{tables.DAGGER} No part of the mean, since it can tell no arm from the other (P8): at no level does it cost"
    " the model 5 points, or a tenth more RMSE, and leave it more than guessing. A mean with the mark is over all"
    " shifts, as none tells."
)
PARAMETERS = ["comparison", "eps", "text.eps", "lm.eps", "shifts", "profiles.${profile}"]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per model, shift and level; without a level of the mean over them, without a shift over these too.

    Raises UserError without rows under a shift.
    """
    used = [task for task in _with_shifts(params) if not curves.all_lost(results, params, task)]
    for task in used:
        for shift in shifts.others(params, task):
            curves.required(results, f"evaluate_{task}", experiment=task, shift=shift)
    rows = results[results["experiment"].isin(used)]
    gains = select(shifts.gains(rows, params), arm=params.comparison.ours)
    levels = gains["experiment"].map({task: headline(params, task) for task in used})
    gains = gains[(gains["eps"] - levels).abs() < 1e-9]
    by = ["experiment", "model"]
    at_levels = shifts.estimates(gains, [*by, "shift", "gamma"])
    means = select(shift_estimates.table(rows, params), arm=params.comparison.ours)
    still = select(shifts.moved(rows, params), arm=params.comparison.ours).assign(experiment="video")
    table = pd.concat([at_levels, means, still], ignore_index=True)
    order = {shift: place for place, shift in enumerate([*params.components["shifts"], shift_estimates.ALL])}
    return table.sort_values(
        [*by, "shift", "gamma"], key=lambda own: own.map(order) if own.name == "shift" else own, ignore_index=True
    )[[*by, "shift", "gamma", *shifts.NUMBERS, "tells", "moved"]]


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row per model and shift as text."""
    heads = ["model", "shift", "levels", "gain at each", "mean over levels", "settings", "seeds"]
    rows = []
    for (model, shift), own in table.groupby(["model", "shift"], sort=False):
        levels = own.dropna(subset="gamma")
        means = own[own["gamma"].isna()].to_dict("records")
        # of a model whose cells are all lost there is no mean
        whole = means[0] if means else dict.fromkeys(own.columns, float("nan"))
        at_each = " ".join(map(_gain, levels.to_dict("records"))) or UNKNOWN
        words = (style.name(shift) if shift else "**mean over shifts**") + _mark(whole)
        counts = [tables.number(whole[name], 0) for name in ("settings", "seeds")]
        rows.append([style.name(model), words, _levels(shift, levels, params), at_each, _interval(whole), *counts])
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples([("", head) for head in heads]))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What differs between the models and between the arms; a warning of synthetic data."""
    lines = pairs.orientation(params, TASKS)
    if "video" in params.tasks:
        lines = remarks.of_video(params) + lines
    whole = table[table["gamma"].isna()].to_dict("records")
    return [SILENT, *lines] if any(map(_mark, whole)) else lines


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if _with_shifts(params) else "the shifts in use hold none but the noise of training"


def lacking(results: pd.DataFrame, params: Params) -> str:
    """Why the results leave nothing to show; empty where they have something."""
    why = [curves.all_lost(results, params, task) for task in _with_shifts(params)]
    return ", and ".join(why) if all(why) else ""


def _with_shifts(params: Params) -> list[str]:
    return [task for task in params.tasks if shifts.others(params, task)]


def _levels(shift: str, levels: pd.DataFrame, params: Params) -> str:
    if levels.empty:
        return UNKNOWN
    sign = "gamma " if params.components["shifts"][shift]["ENERGY"] else ""
    return sign + " ".join(f"{level:g}" for level in levels["gamma"])


def _gain(row: dict) -> str:
    return f"{signed(100 * row['effect'])}{style.star(row['low'], row['high'])}"


def _mark(row: dict) -> str:
    """A dagger for what can tell no arm from the other; a control is none of these."""
    return "" if pd.isna(row["tells"]) or row["tells"] else tables.DAGGER


def _interval(row: dict) -> str:
    if pd.notna(row["moved"]):
        return f"control: {100 * row['moved']:.2g} %"
    return bracketed(row["effect"], (row["low"], row["high"]))
