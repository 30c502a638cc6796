"""REPORT.md of a published run, in the form of the ML Reproducibility Challenge; every number comes from a table.

What does not depend on numbers stands in reproduction.md.j2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from descent.analysis.scorecard import written
from descent.analysis.summary import left_out
from descent.analysis.verdicts import CANNOT_TELL, NO_EFFECT, NOT_REPRODUCED, NOT_TESTED, REPRODUCED, REVERSED
from descent.components import TASKS
from descent.config import Params
from descent.report.markdown import listed, pipe
from descent.report.paper_section import section

FAILED = (NO_EFFECT, REVERSED, NOT_REPRODUCED)
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
SHORT = {CANNOT_TELL: "undecided", NO_EFFECT: "without an effect of interest"}  # in a sentence
NAMED = {"models": "model", "shifts": "shift", "arms": "arm"}  # where the labels of a column are
ABSENT = "–"  # noqa: RUF001


@dataclass(frozen=True)
class Run:
    """What the words are written from.

    Attributes:
        card: the scorecard.
        models: its claims on each model alone (scorecard.by_model).
        cells: summary.cells_table.
        controls, shifts, numbers: as report.published makes them; solver, selection: as report.held does.
        metas: what preparation noted, by folder (evidence.metas).
        made: `made_by` of every cell (evidence.records).
        figures: names of the published files.
    """

    params: Params
    card: pd.DataFrame
    models: pd.DataFrame
    cells: pd.DataFrame
    controls: pd.DataFrame
    shifts: pd.DataFrame
    numbers: pd.DataFrame
    solver: pd.DataFrame
    selection: pd.DataFrame
    metas: Mapping[str, Mapping[str, Any]]
    made: Sequence[Mapping[str, Any]]
    figures: Sequence[str]


def report(run: Run) -> str:
    """The whole of REPORT.md."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    params, card = run.params, run.card
    untested = card[card["verdict"] == NOT_TESTED][["statement", "why"]].fillna("").to_numpy().tolist()
    scope = ["statement", "paper", "group", "verdict"]
    return environment.get_template("reproduction.md.j2").render(
        profile=params.profile,
        scope=pipe(scope, card[scope].to_numpy().tolist()),
        used=used(params),
        data=pipe(["data set", *SPLITS, "sha256"], [_data(*item) for item in run.metas.items()]),
        drawn=listed([_label(params, "models", model) for _, model in _in_use(params) if _draws(params, model)]),
        budgets=pipe(["model", "depths", "arm", "epochs", "batch", "learning rate", *SOLVER], _budgets(params)),
        numbers=_numbers(run.numbers, params),
        cells=_cells(run),
        solver=_table(run.solver, params),
        selection=_table(run.selection, params),
        reproduced=_claims(card, [REPRODUCED]),
        failed=_claims(card, FAILED),
        undecided=_claims(card, [CANNOT_TELL]),
        untested=pipe(["claim", "why"], untested) if untested else "",
        models=_models(card, run.models, params),
        controls=_controls(run),
        shifts=_shifts(run),
        figures=", ".join(f"[{name}](figures/{name})" for name in run.figures),
        departures=" ".join(_departures(params)),
        paper=section(params.video.evaluation.gammas, _sigmas(run)).strip(),
        limits=[f"Left out of this run: {'; '.join(left_out(params))}."] if left_out(params) else [],
    )


def first_screen(run: Run, folder: str) -> str:
    """What the README shows first: a sentence, the forest plot, the primary verdicts, the scope in a line.

    Args:
        folder: where the run is published, relative to the README.
    """
    primary = run.card[run.card["group"] == "primary"]
    tested = primary[primary["verdict"] != NOT_TESTED]
    size = f"up to {int(primary['settings'].max())} settings and {int(primary['seeds'].max())} seeds a claim"
    told = [
        f"{len(rows)} {SHORT.get(word, word)} ({'; '.join(_low(name) for name in rows['statement'])})"
        for word, rows in primary.groupby("verdict", sort=False)
    ]
    seen = "primary claims: estimates with 95 % intervals, and the paper's values"
    said = f"of {len(primary)} primary claims of the paper {listed(told)}"
    if tested.empty:
        said = (
            "none of the paper's primary claims could be tested yet; below is why, and what each model shows alone"
        )
    own = run.models[run.models["claim"].str.startswith(tuple(primary["claim"]))]
    reasons = primary["why"].fillna("").str.replace(r";.*", "; ...", regex=True)
    parts = [
        f"**On real data ({size}), {said}.**",
        f"![{seen}]({folder}/figures/fig_forest.png)",
        _claims(primary.assign(why=reasons), primary["verdict"].tolist()),
        _models(run.card, own.assign(why=own["why"].str.replace(r";.*", "; ...", regex=True)), run.params),
        f"Scope: {used(run.params)}; [report]({folder}/REPORT.md), [protocol](data/evidence/PROTOCOL.md).",
    ]
    return "\n\n".join(parts)


def used(params: Params) -> str:
    """Tasks, models and data sets in use, in words."""
    words = []
    for task, models in groupby(_in_use(params), key=itemgetter(0)):
        datasets = [_label(params, f"tasks.{task}.datasets", name) for name in getattr(params, task).datasets]
        named = listed([_label(params, "models", model) for _, model in models])
        words.append(f"{task}: {named} on {listed(datasets)}")
    return "; ".join(words)


def _claims(card: pd.DataFrame, verdicts: Sequence[str]) -> str:
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
        words += [f"{row['settings']:.0f} settings, {row['seeds']:.0f} seeds"]
    return [*words, f"**{row['verdict']}**" + (f" ({why})" if why else "")]


def _models(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """The claims on each model alone, with what it failed; empty where none has a number."""
    statements = dict(zip(card["claim"], card["statement"], strict=True))
    header = ["claim", "model", "here", "95 % interval", "left out of the claim, since"]
    told = []
    for row in models.dropna(subset="estimate").to_dict("records"):
        number = {key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high")}
        name, claim = _label(params, "models", row["model"]), statements.get(row["claim"], row["claim"])
        told.append([claim, name, number["estimate"], f"{number['low']} to {number['high']}", row["why"]])
    return pipe(header, told) if told else ""


def _inside(row: Mapping[str, Any]) -> str:
    """Whether the paper's number lies where one more of our seeds would."""
    if row["verdict"] == NOT_TESTED or pd.isna(row["paper_inside"]):
        return ""
    return " (inside)" if row["paper_inside"] else " (outside)"


def _in_use(params: Params) -> list[tuple[str, str]]:
    """The tasks with their models in use."""
    return [
        (task, model) for task in TASKS if getattr(params, task).datasets for model in getattr(params, task).models
    ]


def _label(params: Params, place: str, word: str) -> str:
    return params.components[place].get(word, {}).get("LABEL", word)


def _draws(params: Params, model: str) -> bool:
    """Whether a seed of a model draws the clips that train and validate."""
    return params.model_budget(model).get("clips") == "drawn"


def _data(name: str, meta: Mapping[str, Any]) -> list[str]:
    if "frames" in meta:
        sizes = [f"{meta['frames'][split]} frames of {len(meta['clips'][split])} clips" for split in SPLITS]
    else:
        sizes = [f"{meta['texts'].get(split, 0)} texts" for split in SPLITS]
    return [name, *sizes, meta["digest"][:8]]


def _budgets(params: Params) -> list[list[Any]]:
    """A row for each model and arm in use; the solver's values where the arm enforces its constraints."""
    rows = []
    for task, model in _in_use(params):
        budget, dataset = params.model_budget(model), getattr(params, task).datasets[0]
        depths = " ".join(map(str, sorted(set(budget["layers"]))))
        for arm in params.arms:
            values = params.objective(arm, dataset, model)
            solver = [values.get(key, ABSENT) if arm in params.enforcing else ABSENT for key in SOLVER]
            named = [_label(params, "models", model), depths, _label(params, "arms", arm)]
            rows.append(
                [*named, budget["epochs"], budget["batch"], f"{values.get('lr', budget['lr']):g}", *solver]
            )
    return rows


def _table(found: pd.DataFrame, params: Params) -> str:
    """A table as it is: names as labels, shares and other numbers with three digits; empty where it has no row."""
    places = {"dataset": "tasks.video.datasets", "model": "models", "arm": "arms"}
    rows = [
        [_label(params, places[name], value) if name in places else _three(value) for name, value in row.items()]
        for row in found.to_dict("records")
    ]
    return pipe([name.replace("_", " ") for name in found.columns], rows) if rows else ""


def _three(value: float | int) -> str:
    return ABSENT if pd.isna(value) else f"{value:.3g}"


def _numbers(numbers: pd.DataFrame, params: Params) -> str:
    if numbers.empty:
        return ""
    wide = numbers.pivot(index=["model", "layers"], columns="arm", values="numbers")
    rows = [
        [
            _label(params, "models", model),
            layers,
            *(ABSENT if pd.isna(value) else f"{value:.0f}" for value in line),
        ]
        for (model, layers), line in zip(wide.index, wide.to_numpy(float), strict=True)
    ]
    return pipe(["model", "L", *(_label(params, "arms", arm) for arm in wide.columns)], rows)


def _cells(run: Run) -> str:
    trained = run.cells[run.cells["trained"]]
    held = trained[trained["arm"].isin(run.params.enforcing)]
    once = {made["fingerprint"]: made for made in run.made}.values()  # names of one setting share their cells
    hours = sum(made["seconds"] / made["cells_in_stack"] for made in once) / 3600
    devices = listed(sorted({made["device"] for made in run.made}))
    diverged, infeasible = int(trained["diverged"].fillna(False).sum()), int(held["infeasible"].sum())
    return (
        f"{len(trained)} cells ([cells.csv](cells.csv)), of {len(once)} trainings in {hours:.1f} hours of "
        f"{devices} ([environment](environment.txt)); {diverged} diverged. Of {len(held)} that enforce "
        f"constraints {infeasible} ended infeasible on validation data."
    )


def _controls(run: Run) -> str:
    rows = []
    for row in run.controls.to_dict("records"):
        inflation = _percent(row["inflation"]).removeprefix("+")
        named = [row["study"], _label(run.params, "arms", row["arm"]), row["varied"]]
        gains = [_interval(row, name, f"{name}_") for name in ("gain_out", "gain_in")]
        rows.append([*named, *gains, inflation, row["trained"], row["lost"]])
    header = ["study", "arm", "value", "gain out of distribution", "in distribution", "inflation share", "cells"]
    return pipe([*header, "diverged"], rows) if rows else ""


def _shifts(run: Run) -> str:
    rows = []
    for row in run.shifts.to_dict("records"):
        words = [_label(run.params, place, row[key]) for place, key in NAMED.items()]
        rows.append([*words, _interval(row, "effect"), row["settings"], row["seeds"]])
    return pipe(["model", "shift", "arm", "gain", "settings", "seeds"], rows) if rows else ""


def _interval(row: Mapping[str, Any], name: str, prefix: str = "") -> str:
    ends = [row[f"{prefix}low"], row[f"{prefix}high"]]
    beside = "" if pd.isna(ends).any() else f" [{_percent(ends[0])}, {_percent(ends[1])}]"
    return _percent(row[name]) + beside


def _percent(value: float) -> str:
    return ABSENT if pd.isna(value) else f"{100 * value:+.2f} %"


def _departures(params: Params) -> list[str]:
    """A sentence for every form other than the paper's in which the constrained problem of some models is "
    "solved."""
    found: dict[str, list[str]] = {}
    ours = params.comparison.ours
    for task, model in _in_use(params):
        values = (
            params.objective(ours, getattr(params, task).datasets[0], model) if ours in params.enforcing else {}
        )
        other = [f"{key} {values[key]}" for key, usual in PAPERS.items() if values.get(key, usual) != usual]
        found.setdefault(", ".join(other), []).append(_label(params, "models", model))
    usual = ", ".join(f"{key} {value}" for key, value in PAPERS.items())
    return [
        f"For {listed(models)} the constrained problem is solved with {words}, not in the paper's form "
        f"({usual}): the "
        "feasible set is the same, the way to it is not."
        for words, models in found.items()
        if words
    ]


def _sigmas(run: Run) -> dict[str, float]:
    labels = run.params.components["tasks.video.datasets"]
    return {labels[name]["LABEL"]: meta["sigma"] for name, meta in run.metas.items() if name in labels}


def _low(statement: str) -> str:
    return statement[:1].lower() + statement[1:]
