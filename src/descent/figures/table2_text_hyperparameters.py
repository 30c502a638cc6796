"""Table 2: the hyperparameters of the text runs, beside what is known of the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.config import Params
from descent.figures.parts import curves, style, tables, text_curves

PAPER = Path("data/paper/table2_text.csv")
TASKS = text_curves.TASKS
SHARED = ["layers", "eps", "1 - alpha", "R0", "rho", "dual_lr"]  # what the paper's table has too
HEADS = {"layers": "L", "dual_lr": "dual lr"}
TITLE = "Hyperparameters of the text experiments"
CAPTION = """
What the constrained runs of this page used: for each model and data set the trial (and depth) with the lowest
validation loss at the headline training level text.eps, beside the paper's Table 2, which lists its best run over
all levels by a rule that it does not tell. lr: of the weights; dual lr: of the multipliers; source: where the
weights, or UT's word embeddings, come from. A dash is a value that is not known.
"""
PARAMETERS = [
    "text.eps",
    "text.datasets",
    "text.models",
    "text.per_dataset",
    "text.search",
    "primal_dual.ut_text",
    "primal_dual.distilbert",
    "primal_dual.roberta",
    "profiles.${profile}.text",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per (model, dataset): our values, the trial, the source, and the paper's values (`paper_<name>`).

    Raises UserError where no constrained text cell has rows.
    """
    asked = {"experiment": "text", "method": "constrained", "eps": float(params.text.eps)}
    rows = curves.required(results, "evaluate_text", **asked)
    best = best_text(cells_table(rows, params))
    best["1 - alpha"] = (1 - best["alpha"]).round(10)
    best["R0"] = [params.text_constraints(row.model, row.dataset).R0 for row in best.itertuples()]
    best["source"] = [source(params, model) for model in best["model"]]
    ours = best[["model", "dataset", *SHARED, "lr", "source", "seed"]].rename(columns={"seed": "trial"})
    paper = tables.paper(PAPER).rename(columns={name: f"paper_{name}" for name in SHARED})
    order = {model: place for place, model in enumerate(params.text.models)}
    table = ours.merge(paper, how="left", on=["model", "dataset"])
    return table.sort_values(
        ["model", "dataset"], key=lambda c: c.map(order) if c.name == "model" else c, ignore_index=True
    )


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The table as text under a two-row header: ours, then the paper's."""
    own = [*SHARED, "lr", "source"]
    groups = [("", "model"), ("", "data set"), *(("ours", HEADS.get(name, name)) for name in own)]
    groups += [("paper", HEADS.get(name, name)) for name in SHARED]
    columns = [*own, *(f"paper_{name}" for name in SHARED)]
    rows = [
        [style.name(row["model"]), style.name(row["dataset"]), *(_text(row[name]) for name in columns)]
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(groups))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    lines = text_curves.depth_notes(table)
    if params.profile != "paper":
        lines.append(f"Budget and sources are those of profile {params.profile}; profile paper has the paper's.")
    return lines


def source(params: Params, model: str) -> str:
    """Where a model's weights, or its word embeddings, come from, in words."""
    budget = getattr(params.budget.text, model)
    return tables.source(budget.embeddings if hasattr(budget, "embeddings") else budget.weights)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return tables.MISSING if pd.isna(value) else f"{value:.4g}"
