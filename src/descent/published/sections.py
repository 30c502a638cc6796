"""The tables and sentences of REPORT.md, in Markdown: each from a table of the run."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from descent.analysis import tuning
from descent.analysis.lost import truth
from descent.analysis.wording import UNKNOWN, known
from descent.components import TASKS
from descent.config import Params
from descent.published.markdown import listed, pipe
from descent.published.shape import OLDER

SPLITS = ("train", "validation", "test")
NAMED = ("dataset", "model", "arm")  # columns whose words have labels
SOLVER = (
    "constraint",
    "dual_optimizer",
    "dual_lr",
    "nupi_gain",
    "resilience",
    "cap_layer",
    "alpha",
    "R0",
    "margin",
    "margin_start",
)
# What runs published before there was such a value do not hold, and what the paper has whatever `objectives` says.
PAPERS = OLDER | {"constraint": "difference", "dual_optimizer": "adam", "margin": 0.0}
OF_NUPI = ("nupi_gain",)  # what other steps of the duals do not read


def used(params: Params) -> str:
    """Tasks, models and data sets in use, in words."""
    words = []
    for task, models in groupby(params.models_in_use, key=itemgetter(0)):
        datasets = [params.label(name) for name in params.section(task).datasets]
        named = listed([weighted(params, model) for _, model in models])
        words.append(f"{task}: {named} on {listed(datasets)}")
    return "; ".join(words)


def weighted(params: Params, model: str) -> str:
    """A model's label, with what its weights start from where they might have been pretrained."""
    weights = params.model_budget(model).get("weights") or {}
    start = (weights.get("hub") or {}).get("id") or weights.get("path")
    if weights.get("random"):
        start = f"random weights, width {weights['random']['width']}"
    return params.label(model) + (f" ({start})" if start else "")


def data(metas: Mapping[str, Mapping[str, Any]]) -> str:
    """The prepared data sets (run_folder.metas): their splits, what of the test part trains too, and eight digits
    of their digests."""
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
    drawing = [model for _, model in params.models_in_use if params.model_budget(model).get("clips") == "drawn"]
    return listed([params.label(model) for model in drawing])


def budgets(params: Params) -> str:
    """A row for each model and arm in use; the solver's values where the arm enforces its constraints, those of
    several data sets where they are unlike."""
    rows = []
    for task, model in params.models_in_use:
        budget = params.model_budget(model)
        depths = " ".join(map(str, sorted(set(budget["layers"]))))
        for arm in params.arms:
            each = [OLDER | params.objective(arm, dataset, model) for dataset in params.section(task).datasets]
            solver = [_of_solver(each, key) if arm in params.enforcing else UNKNOWN for key in SOLVER]
            named = [params.label(model), depths, params.label(arm)]
            rate = of_each(f"{values.get('lr', budget['lr']):g}" for values in each)
            rows.append([*named, budget["epochs"], budget["batch"], rate, *solver])
    return pipe(["model", "depths", "arm", "epochs", "batch", "learning rate", *SOLVER], rows)


def _of_solver(each: Sequence[Mapping[str, Any]], key: str) -> str:
    read = [values for values in each if key not in OF_NUPI or values.get("dual_optimizer") == "nupi"]
    return of_each(values.get(key, UNKNOWN) for values in read or [{}])


def of_each(values: Iterable[object]) -> str:
    """What is said of each data set, in their order, once where it is the same."""
    return " / ".join(dict.fromkeys(map(str, values)))


def whole(found: pd.DataFrame, params: Params) -> str:
    """A table as it is: names as labels, truths as words, numbers with three digits; empty where it has no row."""
    rows = [
        [params.label(value) if name in NAMED else _three(value) for name, value in row.items()]
        for row in found.to_dict("records")
    ]
    return pipe([name.replace("_", " ") for name in found.columns], rows)


def _three(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return known(value, ".3g")


def trained_numbers(numbers: pd.DataFrame, params: Params) -> str:
    """How many numbers each arm of a model trains (of_results.trained_numbers); empty where it is not known."""
    if numbers.empty:
        return ""
    wide = numbers.pivot(index=["model", "layers"], columns="arm", values="numbers")
    rows = [
        [params.label(model), layers, *(known(value, ".0f") for value in line)]
        for (model, layers), line in zip(wide.index, wide.to_numpy(float), strict=True)
    ]
    return pipe(["model", "L", *(params.label(arm) for arm in wide.columns)], rows)


def cells(found: pd.DataFrame, made: Sequence[Mapping[str, Any]], params: Params) -> str:
    """How many were trained, for how long and on what; how many diverged or ended infeasible, studies apart.

    Args:
        found: summary.cells_table.
        made: `made_by` of every cell, with its fingerprint: cells that names of one setting share count once.
    """
    trained = found[found["trained"]]
    of_grid = trained["experiment"].isin(TASKS)
    once = {each["fingerprint"]: each for each in made}.values()
    hours = sum(each["seconds"] / each["cells_in_stack"] for each in once) / 3600
    devices = listed(sorted({each["device"] for each in made}))
    told = [
        f"{len(trained)} cells ([cells.csv](cells.csv)), of {len(once)} trainings in {hours:.1f} hours of "
        f"{devices} ([environment](environment.txt))."
    ]
    for words, own in (("the settings that are compared", trained[of_grid]), ("the studies", trained[~of_grid])):
        held = own[own["arm"].isin(params.enforcing)]
        diverged = int(truth(own["diverged"]).sum())
        infeasible = int(held["infeasible"].sum())
        if len(own):
            told.append(
                f"Of the {len(own)} of {words} {diverged} diverged; of the {len(held)} of these that enforce "
                f"constraints {infeasible} ended infeasible on validation data."
            )
    return " ".join(told)


def rates(cells: pd.DataFrame, params: Params) -> str:
    """Of which models the learning rate was searched alike in both arms, of which not, of which it is not told."""
    tried = set(tuning.trials(cells, params)["model"])
    models = [model for _, model in params.models_in_use]
    unlike = [model for model in models if model in tried and tuning.uneven(cells, params, model)]
    alike, rest = [m for m in models if m in tried and m not in unlike], [m for m in models if m not in tried]
    alike, unlike, rest = ([params.label(model) for model in own] for own in (alike, unlike, rest))
    words = {
        f"The learning rate of {listed(alike)} was searched with equally many trials in both arms.": alike,
        f"The learning rate of {listed(unlike)} was not searched alike in both arms.": unlike,
        f"Of {listed(rest)} this run holds no trials: PROTOCOL.md says where the rates are from.": rest,
    }
    return " ".join(sentence for sentence, own in words.items() if own)


def figures(shown: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for every published file: its title as a link, and its caption folded away.

    Args:
        shown: what each says of itself (catalogue.sidecar), by file name.
    """
    lines = []
    for file, told in shown.items():
        title = escape(told["title"])
        caption = escape(told["caption"])
        lines.append(f'<details><summary><a href="figures/{file}">{title}</a></summary>{caption}</details>')
    return "\n".join(lines)


def departures(params: Params) -> list[str]:
    """A sentence for every form other than the paper's in which the constrained problem of some models is solved.

    The paper's are PAPERS, and for all else the values of `objectives`, for which the profile has others.
    """
    found: dict[str, list[str]] = {}
    ours = params.comparison.ours
    for task, model in params.models_in_use if ours in params.enforcing else ():
        sets = params.section(task).datasets
        values = [OLDER | params.objective(ours, dataset, model) for dataset in sets]
        papers = [params.objective(ours, dataset, model, profile=False) | PAPERS for dataset in sets]
        other = [
            f"{key} {_of_solver(values, key)} ({_of_solver(papers, key)})"
            for key in SOLVER
            if _of_solver(papers, key) not in (UNKNOWN, _of_solver(values, key))
        ]
        found.setdefault(", ".join(other), []).append(params.label(model))
    return [
        f"The constrained problem of {listed(models)} is solved with {words}; in brackets the paper's, or what "
        "`objectives` has for it."
        for words, models in found.items()
        if words
    ]
