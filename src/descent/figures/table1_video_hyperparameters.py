"""Table 1: the hyperparameters of the video runs, beside what is known of the paper's."""

from pathlib import Path

import pandas as pd

from descent.config import PATCH_MODELS, Params
from descent.figures.parts import style, tables

PAPER = Path("data/paper/table1_video.csv")
TITLE = "Hyperparameters of the video experiments"
CAPTION = """
What the runs of this page used, by model, beside the paper's Table 1 where its values are known; a dash is a
value that is not known or does not apply. One setting serves every data set, depth and training level.
"""
PARAMETERS = [
    "primal_dual.ut",
    "primal_dual.dust",
    "primal_dual.vit",
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
        shown[column] = [_text(value) for value in shown[column]]
    pairs = [column.split(" ") for column in table.columns[2:]]
    groups = [("", "parameter"), ("", "meaning"), *((style.name(model), whose) for model, whose in pairs)]
    shown.columns = pd.MultiIndex.from_tuples(groups)
    return shown


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    lines = tables.vit_notes(params)
    if params.profile == "paper":
        return lines
    return [*lines, f"The budget is that of profile {params.profile}; profile paper has the paper's grid."]


def _ours(params: Params, model: str) -> dict[str, tuple[str, object]]:
    asked, grid, budget = params.constraints(model), params.budget.video, params.budget.video.of(model)
    rates, patches = getattr(grid, model), model in PATCH_MODELS
    drawn = budget.epoch_sequences if patches else budget.epoch_frames
    sparse = model == "dust" or (model == "ut" and params.models.ut.reading == "codes")
    return {
        "R0": ("cap on the loss of the first constrained layer", asked.R0),
        "1 - alpha": ("required ratio of successive layer losses", round(1 - asked.alpha, 10)),
        "cap layer": ("first constrained layer", asked.cap_layer),
        "rho": ("price of relaxation", asked.rho),
        "resilience": ("form of relaxation", asked.resilience),
        "lr": ("learning rate of the weights (Adam)", rates.lr),
        "schedule": ("of that rate over the epochs", params.training.schedule),
        "dual_lr": ("learning rate of the multipliers", rates.dual_lr),
        "slack_lr": ("learning rate of the slacks", asked.slack_lr),
        "dual optimizer": ("of the multipliers", asked.dual_optimizer),
        "clip norm": ("largest gradient norm of a cell", params.training.clip_norm),
        "warm-up": ("epochs before the constraints act", asked.warmup_epochs),
        "epochs": ("epochs of training", budget.epochs),
        "inputs": ("patch sequences (ViT: frames) per epoch", drawn or "all"),
        "batch": ("of these per step", budget.batch),
        "T": ("tokens (patches at one place) per sequence", grid.tokens if patches else None),
        "N": ("atoms of the dictionary", grid.atoms if sparse else None),
        "weights": ("where they come from", None if patches else tables.source(budget.weights)),
        "L": ("layers", _list(grid.layers if patches else [budget.layers])),
        "eps": ("training noise levels", _list([*grid.eps, params.eps])),
        "seeds": ("random seeds", _list(grid.seeds)),
    }


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return tables.MISSING if pd.isna(value) else f"{value:g}"


def _list(values: list) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))
