"""Table 2: the hyperparameters of the text runs, beside what is known of the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, remarks, style, tables, text_curves

PAPER = Path("data/paper/table2_text.csv")
TASKS = text_curves.TASKS
SHARED = ["layers", "eps", "1 - alpha", "R0", "rho", "dual_lr"]  # what the paper's table has too
HEADS = {"layers": "L", "dual_lr": "dual lr"}
TITLE = "Hyperparameters of the text experiments"
CAPTION = """
What the runs of this page used in our arm of `comparison`: for each model and data set the depth with the
lowest validation loss at the headline training level text.eps (and of it the best trial, where text.search varies
something), beside the paper's Table 2, which lists its
best run over all levels by a rule that it does not tell. lr: of the weights; dual lr: of the multipliers; source:
where the weights, or UT's word embeddings, come from. A dash is a value that is not
known or, of rho without a relaxation, not read.
"""
PARAMETERS = [
    "text.eps",
    "text.datasets",
    "text.models",
    "text.search",
    "comparison",
    "objectives.${ours}",
    "profiles.${profile}.text",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per (model, dataset): our values, the trial, the source, and the paper's values (`paper_<name>`).

    Raises UserError where our arm has no rows.
    """
    ours = params.comparison.ours
    rows = curves.required(results, "evaluate_text", experiment="text", arm=ours, eps=headline(params, "text"))
    best = best_text(cells_table(rows, params), params)
    best["1 - alpha"] = (1 - best["alpha"]).round(10)
    asked = [params.objective(ours, row.dataset, row.model) for row in best.itertuples()]
    best["R0"] = [own.get("R0") for own in asked]
    best["rho"] = best["rho"].where([own.get("resilience") != "none" for own in asked])
    best["source"] = [source(params, model) for model in best["model"]]
    table = best[["model", "dataset", *SHARED, "lr", "source", "seed"]].rename(columns={"seed": "trial"})
    paper = tables.paper(PAPER, params, "text").rename(columns={name: f"paper_{name}" for name in SHARED})
    order = {model: place for place, model in enumerate(params.text.models)}
    table = table.merge(paper, how="left", on=["model", "dataset"])
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
        [style.name(row["model"]), style.name(row["dataset"]), *(tables.text(row[name]) for name in columns)]
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(groups))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """What must be read with the table."""
    return text_curves.depth_notes(table, params) + remarks.budget(params)


def source(params: Params, model: str) -> str | None:
    """Where a model's weights, or its word embeddings, come from, in words; None where nothing is said of it."""
    budget = params.model_budget(model)
    return tables.source(budget.get("weights") or budget.get("embeddings"))
