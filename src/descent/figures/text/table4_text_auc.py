"""Table 4: the area under accuracy against test noise, every text setting, both arms, beside the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.keys import SETTING
from descent.analysis.lost import chance, truth
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_trial, seeds_are_trials
from descent.config import Params
from descent.figures.parts import curves, pairs, remarks, style, tables, text_curves

PAPER = Path("data/paper/table4_text_auc.csv")
PAPERS_SPAN = 2.0  # of the paper's noise levels: its areas reach 1.874, and it has no accuracy above .96
HIGHER = 1  # is better
MEASURES = {"area": "", "area_mean": "_mean", "area_sd": "_sd", "trials": "_trials"}
TASKS = text_curves.TASKS
TITLE = "Area under accuracy against test noise"
CAPTION = """
Area (higher is better) under the accuracy on test texts against the test noise level over text.evaluation.gammas,
by the trapezoid rule, of the two arms of `comparison`: where text.search varies something, each at the trial with
the lowest validation loss; in brackets, of several, their mean and standard deviation, those that diverged left
out; where seeds repeat one training, their mean and standard deviation, one that diverged as chance. Bold: the
better arm of a pair, as printed; a tie has none. A dagger marks runs that ended infeasible on validation data (of
an arm with constraints), and diverged runs of either arm; of a mean, that one of its seeds did. Active: the share
of the epochs in which the multiplier of some constraint on descent is above zero / of the seeds with one in the
epoch whose weights are reported. Feasible: the share of the seeds on validation / test data; of a trial 100% where
it is. Beside ours the paper's Table 4 (of models of which it prints one depth, whatever that is), which took the
best of five by a rule that it does not tell; where our noise levels end elsewhere than its own, at 2, no area of
its stands beside ours.
"""
PARAMETERS = [
    "comparison",
    "text.evaluation.gammas",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.search",
    "text.eps",
    "profiles.${profile}.text",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per setting: for each arm the area of its best trial or the mean of its seeds, mean, sd and number
    of the trials, how the constraints held, whether marked; the paper's two areas and its depth.

    Raises UserError where no text cell has rows.
    """
    best = best_trial(cells_table(curves.required(results, "evaluate_text", experiment="text"), params), params)
    best["marked"] = best["infeasible"] | truth(best["diverged"])
    return _with_paper(pairs.build(best, params, MEASURES), params)


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Rows model x L x eps; for each data set what `pairs.display` shows, the better arm bold."""

    def written(row: pd.Series, prefix: str, arm: str) -> str:
        marked = not prefix and bool(row[f"{arm}_marked"])
        text = tables.number(row[prefix + arm], 3, pairs.better(row, params, prefix, arm, HIGHER, 3), marked)
        if prefix or not row[f"{arm}_trials"] > 1:
            return text
        spread = f"± {row[f'{arm}_sd']:.3f}"
        return f"{text} ({row[f'{arm}_mean']:.3f} {spread})" if seeds_are_trials(params) else f"{text} {spread}"

    return pairs.display(table, params, "text", written)


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """Wins, ours and the paper's over the same settings; what chance gives; what differs; synthetic data."""
    guess = {style.name(name): params.text.evaluation.span * chance(params, name) for name in params.text.datasets}
    listed = ", ".join(f"{area:.3f} ({name})" for name, area in guess.items())
    lines = [*pairs.wins(table, params, HIGHER), f"A guess has the area {listed}."]
    lines += text_curves.depth_notes(table, params) + remarks.capacity(params, params.text.models)
    return lines + pairs.orientation(params, TASKS)


def _with_paper(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Models of which the paper prints several depths beside those of the same depth; the others beside theirs."""
    paper = pairs.paper(tables.paper(PAPER, params, "text"), params).rename(columns={"layers": "paper_layers"})
    several = paper.groupby("model")["paper_layers"].nunique() > 1
    beside = table.merge(paper, how="left", on=["dataset", "model", "eps"])
    free = ~truth(beside["model"].map(several))
    beside["same"] = free | (beside["layers"] == beside["paper_layers"])
    found = [column for column in beside if column.startswith(pairs.PAPER)]
    alike = params.text.evaluation.span == PAPERS_SPAN
    beside.loc[~(beside["same"] & alike), found] = float("nan")
    beside = beside.sort_values([*SETTING, "same"]).drop_duplicates(SETTING, keep="last")
    return beside.drop(columns="same").reset_index(drop=True)
