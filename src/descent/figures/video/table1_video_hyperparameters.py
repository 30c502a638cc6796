"""Table 1: the hyperparameters of the video runs, beside what is known of the paper's."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from descent.config import Params
from descent.figures.parts import remarks, style, tables
from descent.schema import VideoBudget

PAPER = Path("data/paper/table1_video.csv")
TITLE = "Hyperparameters of the video experiments"
CAPTION = """
What the runs of this page used in our arm of `comparison`, by model, beside the paper's Table 1 where its values
are known; a dash is a value that is not known or does not apply. One setting serves every depth and training
level; where data sets differ, their values stand in the order of video.datasets.
"""
PARAMETERS = [
    "comparison",
    "objectives.${ours}",
    "training",
    "profiles.${profile}.video",
    "video.patch_loss",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per parameter: its name, what it is, and per model our value and the paper's (NA: not known)."""
    paper = pd.read_csv(PAPER, index_col="parameter")
    columns = {model: _ours(params, model) for model in params.video.models}
    names = next(iter(columns.values()))
    table = pd.DataFrame({"parameter": list(names), "meaning": [meaning for meaning, _ in names.values()]})
    for model, ours in columns.items():
        known = paper[model] if model in paper else pd.Series(dtype=float)
        table[f"{model} ours"] = [value for _, value in ours.values()]
        table[f"{model} paper"] = [known.get(name) for name in names]
    return table


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The table as text under a two-row header: models, then ours and the paper's."""
    shown = table.copy().astype(object)
    for column in shown.columns[2:]:
        shown[column] = [tables.text(value, "g") for value in shown[column]]
    pairs = [column.split(" ") for column in table.columns[2:]]
    groups = [("", "parameter"), ("", "meaning"), *((style.name(model), whose) for model, whose in pairs)]
    shown.columns = pd.MultiIndex.from_tuples(groups)
    return shown


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    return remarks.frames(params) + remarks.budget(params)


def _ours(params: Params, model: str) -> dict[str, tuple[str, object]]:
    objective = _objective(params, model)
    grid = params.budget.video
    budget = params.model_budget(model)
    patches = params.components["models"][model]["INPUTS"] == "patches"
    return {
        "R0": ("cap on the loss of the first constrained layer", objective("R0")),
        "1 - alpha": ("required ratio of successive layer losses", objective("alpha", lambda a: round(1 - a, 10))),
        "cap layer": ("first constrained layer", objective("cap_layer")),
        "constraint": ("form of the constraints", objective("constraint")),
        "margin": ("descent asked for beyond alpha", objective("margin")),
        "margin start": ("the same, at first", objective("margin_start")),
        "resilience": ("form of relaxation", objective("resilience")),
        "rho": ("price of relaxation", objective("rho", of=("slacks", "decay"))),
        "lr": ("learning rate of the weights", objective("lr")),
        "optimizer": ("of the weights", budget.get("optimizer", VideoBudget.model_fields["optimizer"].default)),
        "schedule": ("of that rate over the epochs", params.training.schedule),
        "dual_lr": ("learning rate of the multipliers", objective("dual_lr")),
        "slack_lr": ("learning rate of the slacks", objective("slack_lr", of=("slacks",))),
        "dual optimizer": ("of the multipliers", objective("dual_optimizer")),
        "clip norm": ("largest gradient norm of a cell", params.training.clip_norm),
        "warm-up": ("epochs before the constraints act", objective("warmup_epochs")),
        "epochs": ("epochs of training", budget["epochs"]),
        "inputs": ("patch sequences or frames per epoch", budget["epoch_inputs"] or "all"),
        "batch": ("of these per step", budget["batch"]),
        "T": ("tokens (patches at one place) per sequence", budget["tokens"] if patches else None),
        "N": ("atoms of the dictionary", budget.get("atoms")),
        "weights": ("where they come from", tables.source(budget.get("weights"))),
        "L": ("layers", _list(budget["layers"])),
        "eps": ("training noise levels", _list([*grid.eps, params.eps])),
        "seeds": ("random seeds", _list(grid.seeds)),
    }


def _objective(params: Params, model: str) -> Callable[..., object]:
    """Looks a value of our arm's objective up: of all data sets where they differ, None where the arm has none, or
    relaxes in a form that is none `of` these."""
    rate = {"lr": params.model_budget(model)["lr"]}
    ours = [rate | params.objective(params.comparison.ours, name, model) for name in params.video.datasets]

    def objective(
        key: str, written: Callable[[Any], object] = lambda value: value, of: Sequence[str] = ()
    ) -> object:
        read = [own if not of or own.get("resilience") in of else {} for own in ours]
        values = [None if own.get(key) is None else written(own[key]) for own in read]
        return values[0] if len(set(values)) == 1 else ", ".join(tables.text(value, "g") for value in values)

    return objective


def _list(values: list) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))
