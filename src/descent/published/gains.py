"""Tables of gains in REPORT.md: of controls, by the number of epochs, under other shifts, by kind of text."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from descent.analysis.wording import UNKNOWN, known
from descent.config import Params
from descent.published.markdown import pipe


def controls(found: pd.DataFrame, params: Params) -> str:
    """The gains of every arm of the studies of controls (of_results.controls); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        inflation = _percent(row["inflation"]).removeprefix("+")
        named = [row["study"], params.label(row["arm"]), row["varied"]]
        unit = "%" if params.studied(row["study"]).task == "video" else "points"
        gains = [_interval(row, name, f"{name}_", unit) for name in ("gain_out", "gain_in")]
        rows.append([*named, *gains, inflation, row["trained"], row["lost"]])
    header = ["study", "arm", "value", "gain out of distribution", "in distribution", "inflation share", "cells"]
    return pipe([*header, "diverged"], rows) if rows else ""


def by_epochs(found: pd.DataFrame, params: Params) -> str:
    """The gains and losses by the number of epochs (analysis.epochs); empty where no study trains another one."""
    arms = ("ours", "baseline")
    rows = []
    for row in found.to_dict("records"):
        task = params.task_of(row["model"])
        unit = "%" if task == "video" else "points"
        place = [params.label(row["dataset"]), params.label(row["model"])]
        words = [_interval(row, name, f"{name}_", unit) for name in ("gain_out", "gain_in")]
        loss = [known(row[f"validation_loss_{arm}"], ".4g") for arm in arms]
        descend = [known(row[f"descending_{arm}"], ".0%") for arm in arms]
        counts = [row[name] for name in ("layers", "eps", "epochs", "seeds", "lost")]
        rows.append([*place, *counts, *words, *loss, *descend])
    header = ["data set", "model", "layers", "eps", "epochs", "seeds", "lost"]
    header += ["gain out of distribution", "in distribution"]
    names = [params.label(arm) for arm in params.comparison.arms]
    header += [f"{what}, {name}" for what in ("f_L", "descend") for name in names]
    return pipe(header, rows) if rows else ""


def shifts(found: pd.DataFrame, params: Params) -> str:
    """The gains under other shifts (of_results.shifts); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        words = [params.label(row[key]) for key in ("model", "shift", "arm")]
        unit = "%" if row["experiment"] == "video" else "points"
        tells = "yes" if row["tells"] else "no"
        rows.append([*words, _interval(row, "effect", unit=unit), tells, row["settings"], row["seeds"]])
    return pipe(["model", "shift", "arm", "gain", "tells", "settings", "seeds"], rows) if rows else ""


def kinds(found: pd.DataFrame, params: Params) -> str:
    """The accuracies and gains by kind of test text (analysis.kinds); empty where texts are of one kind."""
    rows = []
    for row in found.to_dict("records"):
        words = [params.label(row[key]) for key in ("dataset", "model", "arm")]
        gain = UNKNOWN if pd.isna(row["effect"]) else _interval(row, "effect", unit="points")
        rows.append([*words, row["tested"], f"{100 * row['accuracy']:.1f} %", gain])
    return pipe(["data set", "model", "arm", "kind", "accuracy", "gain"], rows) if rows else ""


def _interval(row: Mapping[str, Any], name: str, prefix: str = "", unit: str = "%") -> str:
    ends = [row[f"{prefix}low"], row[f"{prefix}high"]]
    beside = "" if pd.isna(ends).any() else f" [{_percent(ends[0], unit)}, {_percent(ends[1], unit)}]"
    return _percent(row[name], unit) + beside


def _percent(value: float, unit: str = "%") -> str:
    return UNKNOWN if pd.isna(value) else f"{100 * value:+.2f} {unit}"
