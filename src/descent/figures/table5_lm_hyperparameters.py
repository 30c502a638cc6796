"""Table 5: the hyperparameters of the language model, beside what is known of the paper's."""

from pathlib import Path

import pandas as pd

from descent.cells import LM
from descent.config import Params
from descent.figures.parts import curves, style, tables

PAPER = Path("data/paper/table5_lm.csv")
TASKS = ("lm",)
SHARED = ["L", "eps", "1 - alpha", "R0", "rho", "LoRA r", "LoRA alpha", "LoRA dropout", "lr", "dual lr"]
TITLE = "Hyperparameters of the causal language model"
CAPTION = """
What the constrained run of this page used, beside the paper's Table 5, one of whose two learning rates is lost.
lr: of the weights; dual lr: of the multipliers. A dash is a value that is not known or, of LoRA, that there are no
adapters and every weight trains.
"""
PARAMETERS = ["lm.eps", "lm.optimizer", "primal_dual.causal_lm", "profiles.${profile}.lm"]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Two rows, ours and the paper's. Raises UserError where no constrained cell has rows."""
    curves.required(results, "evaluate_lm", experiment="lm", method="constrained", eps=float(params.lm.eps))
    asked, budget = params.lm_constraints(), params.budget.lm
    lora = budget.lora
    adapters = (lora.rank, lora.scale, lora.dropout) if lora else (None, None, None)
    problem = (round(1 - asked.alpha, 10), asked.R0, asked.rho)
    values = (budget.layers, params.lm.eps, *problem, *adapters, budget.lr, budget.dual_lr)
    ours = {
        "source": "ours",
        "model": source(params),
        "dataset": style.name(LM[0]),
        **dict(zip(SHARED, values, strict=True)),
    }
    paper = pd.read_csv(PAPER).rename(columns={"epsilon": "eps"}).assign(source="paper")
    table = pd.concat([pd.DataFrame([ours]).astype(dict.fromkeys(SHARED, float)), paper], ignore_index=True)
    return table[["source", "model", "dataset", *SHARED]]


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The table as text."""
    columns = pd.MultiIndex.from_tuples(
        [("", ""), ("", "model"), ("", "data set"), *(("", name) for name in SHARED)]
    )
    rows = [
        [row["source"], row["model"], row["dataset"], *(_text(row[name]) for name in SHARED)]
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows, columns=columns)


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    if params.profile == "paper":
        return []
    return [f"Budget and sources are those of profile {params.profile}; profile paper has the paper's."]


def source(params: Params) -> str:
    """Where the model's weights come from, in words."""
    weights = params.budget.lm.weights
    if weights.hub is not None:
        return weights.hub.id
    return f"folder {weights.path}" if weights.path else f"random, width {weights.random.width}"


def _text(value: float) -> str:
    return tables.MISSING if pd.isna(value) else f"{value:.4g}"
