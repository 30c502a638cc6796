"""The tables and sentences of REPORT.md, in Markdown: each from a table of the run."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from descent.analysis.scorecard import number_of, written
from descent.analysis.verdicts import NOT_TESTED
from descent.components import TASKS
from descent.config import Params
from descent.report.markdown import listed, pipe

SPLITS = ("train", "validation", "test")
SOLVER = ("constraint", "dual_optimizer", "dual_lr", "resilience", "alpha", "R0")
PAPERS = {"constraint": "difference", "dual_optimizer": "adam"}  # the form that the paper solves
CLAIM = (
    "claim",
    "the paper",
    "its number",
    "here",
    "95 % interval",
    "effect, margin or bound",
    "p",
    "from",
    "verdict",
)
NAMED = {"models": "model", "shifts": "shift", "arms": "arm"}  # where the labels of a column are
ABSENT = "–"  # noqa: RUF001


def used(params: Params) -> str:
    """Tasks, models and data sets in use, in words."""
    words = []
    for task, models in groupby(in_use(params), key=itemgetter(0)):
        datasets = [label(params, f"tasks.{task}.datasets", name) for name in getattr(params, task).datasets]
        named = listed([label(params, "models", model) for _, model in models])
        words.append(f"{task}: {named} on {listed(datasets)}")
    return "; ".join(words)


def compared(pairs: pd.DataFrame, params: Params) -> str:
    """The same of what pairs were compared on."""
    rows, words = pairs[["dataset", "model"]].drop_duplicates(), []
    tasks = rows["model"].map(lambda model: params.components["models"].get(model, {}).get("TASK", ""))
    for task, own in sorted(rows.groupby(tasks), key=lambda group: (*TASKS, "").index(group[0])):
        datasets = [label(params, f"tasks.{task}.datasets", name) for name in own["dataset"].unique()]
        models = sorted(label(params, "models", name) for name in own["model"].unique())
        words.append(f"{task or 'no longer here'}: {listed(models)} on {listed(datasets)}")
    return "; ".join(words)


def claims(card: pd.DataFrame, verdicts: Sequence[str]) -> str:
    """The claims with one of these verdicts as a table; empty where there are none."""
    rows = card[card["verdict"].isin(verdicts)].to_dict("records")
    return pipe(CLAIM, [_claim(row) for row in rows]) if rows else ""


def _claim(row: Mapping[str, Any]) -> list[str]:
    number = {
        key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high", "effect", "paper_value")
    }
    why = row["why"] if isinstance(row["why"], str) else ""
    words = [row["statement"], row["paper"], number["paper_value"] + _inside(row)]
    if row["verdict"] == NOT_TESTED:
        words += [ABSENT, ABSENT, number["effect"], ABSENT, ABSENT]
    else:
        words += [number["estimate"], f"{number['low']} to {number['high']}", number["effect"]]
        words += [ABSENT if pd.isna(row["p_holm"]) else f"{row['p_holm']:.2g}"]
        words += [f"{number_of(row['settings'], 'setting')}, {number_of(row['seeds'], 'seed')}"]
    return [*words, f"**{row['verdict']}**" + (f" ({why})" if why else "")]


def models_alone(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """The claims on each model alone, with what it failed; empty where none has a number."""
    statements = dict(zip(card["claim"], card["statement"], strict=True))
    header = ["claim", "model", "here", "95 % interval", "left out of the claim, since"]
    told = []
    for row in models.dropna(subset="estimate").to_dict("records"):
        number = {key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high")}
        name, claim = label(params, "models", row["model"]), statements.get(row["claim"], row["claim"])
        told.append([claim, name, number["estimate"], f"{number['low']} to {number['high']}", row["why"]])
    return pipe(header, told) if told else ""


def _inside(row: Mapping[str, Any]) -> str:
    """Whether the paper's number lies where one more of our seeds would."""
    if row["verdict"] == NOT_TESTED or pd.isna(row["paper_inside"]):
        return ""
    return " (inside)" if row["paper_inside"] else " (outside)"


def data(metas: Mapping[str, Mapping[str, Any]]) -> str:
    """The prepared data sets (evidence.metas): their splits, what of the test part trains too, and eight digits of
    their digests."""
    rows = []
    for name, meta in metas.items():
        if "frames" in meta:
            sizes = [f"{meta['frames'][split]} frames of {len(meta['clips'][split])} clips" for split in SPLITS]
        else:
            sizes = [f"{meta['texts'].get(split, 0)} texts" for split in SPLITS]
        rows.append([name, *sizes, meta.get("repeated", 0), meta["digest"][:8]])
    return pipe(["data set", *SPLITS, "of the test part in train", "sha256"], rows)


def drawn(params: Params) -> str:
    """The models of which a seed draws the clips that train and validate."""
    drawing = [model for _, model in in_use(params) if params.model_budget(model).get("clips") == "drawn"]
    return listed([label(params, "models", model) for model in drawing])


def budgets(params: Params) -> str:
    """A row for each model and arm in use; the solver's values where the arm enforces its constraints."""
    rows = []
    for task, model in in_use(params):
        budget, dataset = params.model_budget(model), getattr(params, task).datasets[0]
        depths = " ".join(map(str, sorted(set(budget["layers"]))))
        for arm in params.arms:
            values = params.objective(arm, dataset, model)
            solver = [values.get(key, ABSENT) if arm in params.enforcing else ABSENT for key in SOLVER]
            named = [label(params, "models", model), depths, label(params, "arms", arm)]
            rows.append(
                [*named, budget["epochs"], budget["batch"], f"{values.get('lr', budget['lr']):g}", *solver]
            )
    return pipe(["model", "depths", "arm", "epochs", "batch", "learning rate", *SOLVER], rows)


def plain(found: pd.DataFrame, params: Params) -> str:
    """A table as it is: names as labels, shares and other numbers with three digits; empty where it has no row."""
    places = {"dataset": "tasks.video.datasets", "model": "models", "arm": "arms"}
    rows = [
        [label(params, places[name], value) if name in places else _three(value) for name, value in row.items()]
        for row in found.to_dict("records")
    ]
    return pipe([name.replace("_", " ") for name in found.columns], rows) if rows else ""


def _three(value: float | int) -> str:
    return ABSENT if pd.isna(value) else f"{value:.3g}"


def trained_numbers(numbers: pd.DataFrame, params: Params) -> str:
    """How many numbers each arm of a model trains (published.trained_numbers); empty where it is not known."""
    if numbers.empty:
        return ""
    wide = numbers.pivot(index=["model", "layers"], columns="arm", values="numbers")
    rows = [
        [
            label(params, "models", model),
            layers,
            *(ABSENT if pd.isna(value) else f"{value:.0f}" for value in line),
        ]
        for (model, layers), line in zip(wide.index, wide.to_numpy(float), strict=True)
    ]
    return pipe(["model", "L", *(label(params, "arms", arm) for arm in wide.columns)], rows)


def cells(found: pd.DataFrame, made: Sequence[Mapping[str, Any]], params: Params) -> str:
    """How many were trained, for how long and on what, and how many diverged or ended infeasible.

    Args:
        found: summary.cells_table.
        made: `made_by` of every cell, with its fingerprint: cells that names of one setting share count once.
    """
    trained = found[found["trained"]]
    held = trained[trained["arm"].isin(params.enforcing)]
    once = {each["fingerprint"]: each for each in made}.values()
    hours = sum(each["seconds"] / each["cells_in_stack"] for each in once) / 3600
    devices = listed(sorted({each["device"] for each in made}))
    diverged, infeasible = int(trained["diverged"].fillna(False).sum()), int(held["infeasible"].sum())
    return (
        f"{len(trained)} cells ([cells.csv](cells.csv)), of {len(once)} trainings in {hours:.1f} hours of "
        f"{devices} ([environment](environment.txt)); {diverged} diverged. Of {len(held)} that enforce "
        f"constraints {infeasible} ended infeasible on validation data."
    )


def controls(found: pd.DataFrame, params: Params) -> str:
    """The gains of every arm of the studies of controls (published.controls); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        inflation = _percent(row["inflation"]).removeprefix("+")
        named = [row["study"], label(params, "arms", row["arm"]), row["varied"]]
        gains = [_interval(row, name, f"{name}_") for name in ("gain_out", "gain_in")]
        rows.append([*named, *gains, inflation, row["trained"], row["lost"]])
    header = ["study", "arm", "value", "gain out of distribution", "in distribution", "inflation share", "cells"]
    return pipe([*header, "diverged"], rows) if rows else ""


def shifts(found: pd.DataFrame, params: Params) -> str:
    """The gains under other shifts (published.shifts); empty where there are none."""
    rows = []
    for row in found.to_dict("records"):
        words = [label(params, place, row[key]) for place, key in NAMED.items()]
        rows.append([*words, _interval(row, "effect"), row["settings"], row["seeds"]])
    return pipe(["model", "shift", "arm", "gain", "settings", "seeds"], rows) if rows else ""


def _interval(row: Mapping[str, Any], name: str, prefix: str = "") -> str:
    ends = [row[f"{prefix}low"], row[f"{prefix}high"]]
    beside = "" if pd.isna(ends).any() else f" [{_percent(ends[0])}, {_percent(ends[1])}]"
    return _percent(row[name]) + beside


def _percent(value: float) -> str:
    return ABSENT if pd.isna(value) else f"{100 * value:+.2f} %"


def departures(params: Params) -> list[str]:
    """A sentence for every form other than the paper's in which the constrained problem of some models is "
    "solved."""
    found: dict[str, list[str]] = {}
    ours = params.comparison.ours
    for task, model in in_use(params):
        values = (
            params.objective(ours, getattr(params, task).datasets[0], model) if ours in params.enforcing else {}
        )
        other = [f"{key} {values[key]}" for key, usual in PAPERS.items() if values.get(key, usual) != usual]
        found.setdefault(", ".join(other), []).append(label(params, "models", model))
    usual = ", ".join(f"{key} {value}" for key, value in PAPERS.items())
    return [
        f"For {listed(models)} the constrained problem is solved with {words}, not in the paper's form "
        f"({usual}): the "
        "feasible set is the same, the way to it is not."
        for words, models in found.items()
        if words
    ]


def in_use(params: Params) -> list[tuple[str, str]]:
    """The tasks with their models in use."""
    return [
        (task, model) for task in TASKS if getattr(params, task).datasets for model in getattr(params, task).models
    ]


def label(params: Params, place: str, word: str) -> str:
    """What a component is called: its LABEL, or its name where it is no longer there."""
    return params.components[place].get(word, {}).get("LABEL", word)
