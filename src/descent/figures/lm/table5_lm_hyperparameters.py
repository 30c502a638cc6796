"""Table 5: the hyperparameters of the language model, beside what is known of the paper's."""

from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis.wording import UNKNOWN
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, remarks, style, tables

PAPER = Path("data/paper/table5_lm.csv")
TASKS = ("lm",)
SHARED = ["L", "eps", "1 - alpha", "R0", "rho", "LoRA r", "LoRA alpha", "LoRA dropout", "lr", "dual lr"]
TITLE = "Hyperparameters of the causal language model"
CAPTION = """
What the runs of this page used in our arm of `comparison`, beside the paper's Table 5, one of whose two learning
rates is lost. lr: of the weights; dual lr: of the multipliers. A dash is a value that is not known or, of LoRA,
that there are no adapters and every weight trains.
"""
PARAMETERS = ["lm.eps", "lm.optimizer", "comparison", "objectives.${ours}", "profiles.${profile}.lm"]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row for every model, data set and depth of ours, then the paper's. Raises UserError without our rows."""
    arm = params.comparison.ours
    curves.required(results, "evaluate_lm", experiment="lm", arm=arm, eps=headline(params, "lm"))
    ours = [
        _ours(params, model, dataset, layers)
        for model in params.lm.models
        for dataset in params.lm.datasets
        for layers in sorted(set(params.model_budget(model)["layers"]))
    ]
    paper = pd.read_csv(PAPER).rename(columns={"epsilon": "eps"}).assign(source="paper")
    table = pd.concat([pd.DataFrame(ours).astype(dict.fromkeys(SHARED, float)), paper], ignore_index=True)
    return table[["source", "model", "dataset", *SHARED]]


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The table as text."""
    columns = pd.MultiIndex.from_tuples(
        [("", ""), ("", "model"), ("", "data set"), *(("", name) for name in SHARED)]
    )
    rows = [
        [row["source"], row["model"], row["dataset"], *(tables.text(row[name]) for name in SHARED)]
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows, columns=columns)


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    return remarks.budget(params)


def _ours(params: Params, model: str, dataset: str, layers: int) -> dict[str, object]:
    budget = params.model_budget(model)
    objective = params.objective(params.comparison.ours, dataset, model)
    lora = budget.get("lora") or {}
    alpha = objective.get("alpha")
    values = (
        layers,
        params.lm.eps,
        None if alpha is None else round(1 - alpha, 10),
        objective.get("R0"),
        objective.get("rho") if objective.get("resilience") in ("slacks", "decay") else None,
        *(lora.get(name) for name in ("rank", "scale", "dropout")),
        objective.get("lr", budget["lr"]),
        objective.get("dual_lr"),
    )
    identity = {"source": "ours", "model": source(budget.get("weights")), "dataset": style.name(dataset)}
    return identity | dict(zip(SHARED, values, strict=True))


def source(weights: dict[str, Any] | None) -> str:
    """Where a model's weights come from, in words: a name of the hub as the paper writes it."""
    return (tables.source(weights) or UNKNOWN).removeprefix("hub: ")
