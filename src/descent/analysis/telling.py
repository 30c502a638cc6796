"""Which shifts can tell the arms apart: those that cost a model something, and leave it something.

A shift that moves no answer, and one under which no arm answers better than by guessing, would find any two models
alike. What counts is asked of both arms together, each with the same weight, so that it favours neither.
"""

import pandas as pd

from descent.analysis.evidence import Evidence
from descent.analysis.keys import SEEDLESS
from descent.analysis.learned import ABOVE, BETTER, FALL, guessed
from descent.analysis.select import TRAINED, last_layer, measured, select
from descent.analysis.shifts import others
from descent.cells import headline

COLUMNS = ["model", "shift", "cost", "left", "tells"]
LEVEL_OF_SHIFT = ["model", "shift", "gamma"]
ROUNDING = 1e-9  # differences of accuracies are no exact decimals
COST = {True: BETTER - ROUNDING, False: FALL - ROUNDING}  # of video, and of texts
LEFT = {True: BETTER - ROUNDING, False: ABOVE - ROUNDING}


def by_model(evidence: Evidence, task: str) -> dict[str, list[str]]:
    """The shifts that tell, of every model; where none does, all that are no control."""
    found = table(evidence, task)
    named = {}
    for model in dict.fromkeys([*evidence.params.section(task).models, *found["model"]]):
        own = select(found, model=model)
        every = own["shift"].tolist() or others(evidence.params, task)
        named[model] = select(own, tells=True)["shift"].tolist() or every
    return named


def table(evidence: Evidence, task: str) -> pd.DataFrame:
    """COLUMNS, a row for every model and shift of a task, of the headline cells that did not diverge.

    `cost`: by how much the RMSE is larger than at the lowest gamma, as a share, or the accuracy smaller. `left`:
    by how much the RMSE is below the zero map's, as a share, or the accuracy above the most frequent answer's.
    Means over an arm's data sets, depths and seeds, then over the two arms, at the level where they are largest;
    `tells`: at one and the same level the cost is at least COST and what is left at least LEFT.
    """
    return evidence.once((table, task), lambda: _table(evidence, task))


def _table(evidence: Evidence, task: str) -> pd.DataFrame:
    params = evidence.params
    video = task == "video"
    rows = select(evidence.results, experiment=task, split="test", metric="rmse" if video else "accuracy", bin=0.0)
    compared = params.comparison.arms
    rows = select(last_layer(measured(rows[rows["arm"].isin(compared)])), eps=float(headline(params, task)))
    lowest = float(min(params.section(task).evaluation.gammas))
    of_cell = [*SEEDLESS, "seed"]
    clean = select(rows, shift=TRAINED, gamma=lowest).set_index(of_cell)["value"].rename("clean")
    rows = rows[rows["shift"].isin(others(params, task))].join(clean, on=of_cell)
    if rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    nothing = _nothing_learned(evidence, task, rows)
    if video:
        rows = rows.assign(cost=rows["value"] / rows["clean"] - 1, left=1 - rows["value"] / nothing)
    else:
        rows = rows.assign(cost=rows["clean"] - rows["value"], left=rows["value"] - nothing)
    by_arm = rows.groupby([*LEVEL_OF_SHIFT, "arm"])[["cost", "left"]].mean()
    by_level = by_arm.groupby(LEVEL_OF_SHIFT).mean()
    found = by_level.assign(tells=(by_level["cost"] >= COST[video]) & (by_level["left"] >= LEFT[video]))
    return found.groupby(["model", "shift"]).max().reset_index()[COLUMNS]


def _nothing_learned(evidence: Evidence, task: str, cells: pd.DataFrame) -> pd.Series:
    """The zero map's RMSE, or the accuracy of the most frequent answer, of each row's data set."""
    return evidence.zero_rmse(cells) if task == "video" else guessed(evidence, task, cells)
