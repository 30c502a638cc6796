"""Gains in words: one estimate, and REPORT.md's tables of controls, epochs, other shifts and kinds of text."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from descent.analysis.verdicts import Estimate
from descent.analysis.wording import UNKNOWN, bracketed, gain, known, unit_of
from descent.config import Params
from descent.published.markdown import pipe

FOUND = ("gain out of distribution, %", "gain in distribution, %", "pairs")  # headings of what was found


def estimated(found: Estimate, digits: int = 1) -> str:
    """The protocol's estimate of a gain, times a hundred, with its 95 % interval (wording.gain)."""
    value, *ends = found.numbers()
    return gain(value, ends, found.seeds, digits)


def controls(found: pd.DataFrame, params: Params) -> str:
    """The gains of every arm of the studies of controls (of_results.controls); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        inflation = UNKNOWN if pd.isna(row["inflation"]) else f"{100 * row['inflation']:.2f} %"
        named = [row["study"], params.label(row["arm"]), row["varied"]]
        unit = unit_of(params.studied(row["study"]).task)
        rows.append([*named, *_gains(row, unit), inflation, row["trained"], row["lost"]])
    header = ["study", "arm", "value", "gain out of distribution", "in distribution", "inflation share", "cells"]
    return pipe([*header, "diverged"], rows)


def by_epochs(found: pd.DataFrame, params: Params) -> str:
    """The gains and losses by the number of epochs (analysis.epochs); empty where no study trains another one."""
    arms = ("ours", "baseline")
    rows = []
    for row in found.to_dict("records"):
        place = [params.label(row["dataset"]), params.label(row["model"])]
        words = _gains(row, unit_of(params.task_of(row["model"])))
        loss = [known(row[f"validation_loss_{arm}"], ".4g") for arm in arms]
        descend = [known(row[f"descending_{arm}"], ".0%") for arm in arms]
        counts = [row[name] for name in ("layers", "eps", "epochs", "seeds", "lost")]
        rows.append([*place, *counts, *words, *loss, *descend])
    header = ["data set", "model", "layers", "eps", "epochs", "seeds", "lost"]
    header += ["gain out of distribution", "in distribution"]
    names = [params.label(arm) for arm in params.comparison.arms]
    header += [f"{what}, {name}" for what in ("f_L", "descend") for name in names]
    return pipe(header, rows)


def shifts(found: pd.DataFrame, params: Params) -> str:
    """The gains under other shifts (of_results.shifts); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        words = [params.label(row[key]) for key in ("model", "shift", "arm")]
        effect = bracketed(row["effect"], (row["low"], row["high"]), unit_of(row["experiment"]))
        tells = "yes" if row["tells"] else "no"
        rows.append([*words, effect, tells, row["settings"], row["seeds"]])
    return pipe(["model", "shift", "arm", "gain", "tells", "settings", "seeds"], rows)


def kinds(found: pd.DataFrame, params: Params) -> str:
    """The accuracies and gains by kind of test text (analysis.kinds); empty where texts are of one kind."""
    rows = []
    for row in found.to_dict("records"):
        words = [params.label(row[key]) for key in ("dataset", "model", "arm")]
        gain = bracketed(row["effect"], (row["low"], row["high"]), "points")
        rows.append([*words, row["tested"], f"{100 * row['accuracy']:.1f} %", gain])
    return pipe(["data set", "model", "arm", "kind", "accuracy", "gain"], rows)


def _gains(row: Mapping[str, Any], unit: str) -> list[str]:
    """Out of distribution and in it."""
    sides = ("gain_out", "gain_in")
    return [bracketed(row[name], (row[f"{name}_low"], row[f"{name}_high"]), unit) for name in sides]
