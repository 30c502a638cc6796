"""Table 4: the area under accuracy against test noise, every text setting, both arms, beside the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.summary import cells_table
from descent.analysis.trials import best_trial
from descent.config import Params
from descent.figures.parts import curves, style, tables, text_curves

PAPER = Path("data/paper/table4_text_auc.csv")
SETTING = ["dataset", "model", "layers", "eps"]
ARMS = ["constrained", "unconstrained"]
TASKS = text_curves.TASKS
TITLE = "Area under accuracy against test noise"
CAPTION = """
Area (higher is better) under the accuracy on test texts against the test noise level over text.evaluation.gammas,
by the trapezoid rule, of the trial with the lowest validation loss; in brackets, where an arm had several trials,
their mean and standard deviation (trials that diverged left out). Bold: the better arm of a pair. A dagger marks
constrained runs that ended infeasible on validation data, and diverged runs of either arm. Beside ours the paper's
Table 4 (its encoders whatever depth it prints), which took the best of five by a rule that it does not tell.
"""
PARAMETERS = [
    "text.evaluation.gammas",
    "text.datasets",
    "text.models",
    "text.tolerance",
    "text.search",
    "text.eps",
    "profiles.${profile}.text.eps",
    "profiles.${profile}.text.trials",
    "profiles.${profile}.text.ut_text.layers",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per SETTING: for each arm the best trial's area, and mean, sd and number of the trials that did
    not diverge, whether marked; the paper's two areas and its depth.

    Raises UserError where no text cell has rows.
    """
    best = best_trial(cells_table(curves.required(results, "evaluate_text", experiment="text"), params))
    failed = (best["method"] == "constrained") & ~best["feasible"].fillna(False)
    best["marked"] = failed | best["diverged"].fillna(False)
    measures = {"area": "", "area_mean": "_mean", "area_sd": "_sd", "trials": "_trials", "marked": "_marked"}
    wide = best.pivot(index=SETTING, columns="method", values=list(measures))
    wide.columns = [f"{arm}{measures[measure]}" for measure, arm in wide.columns]
    wide = wide.reindex(columns=[f"{arm}{ending}" for ending in measures.values() for arm in ARMS])
    marks = [f"{arm}_marked" for arm in ARMS]
    wide[marks] = wide[marks].astype("boolean").fillna(False).astype(bool)
    numbers = wide.columns.drop(marks)
    wide[numbers] = wide[numbers].astype(float)
    return _with_paper(wide.reset_index())


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Rows model x L x eps; for each data set ours and the paper's, both arms, the better one bold."""
    order = {model: place for place, model in enumerate(params.text.models)}
    settings = table[SETTING[1:]].drop_duplicates()
    settings = settings.sort_values(SETTING[1:], key=lambda c: c.map(order) if c.name == "model" else c)
    by_setting = table.set_index(SETTING)
    groups = [("", "model"), ("", "L"), ("", "eps")]
    for dataset in params.text.datasets:
        groups += [(style.name(dataset), head) for head in ("constr.", "unconstr.", "paper c.", "paper u.")]
    rows = []
    for model, layers, eps in settings.itertuples(index=False):
        row = [style.name(model), str(layers), f"{eps:g}"]
        for dataset in params.text.datasets:
            key = (dataset, model, layers, eps)
            row += _quadruple(by_setting.loc[key]) if key in by_setting.index else [tables.MISSING] * 4
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(groups))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """Wins, ours and the paper's over the same settings; what chance gives; depths; synthetic data."""
    lines = []
    for prefix, words in (
        ("", "The constrained arm has the larger area in"),
        ("paper_", "In the same settings of the paper's table it has it in"),
    ):
        both = table[[f"{prefix}{arm}" for arm in ARMS]].dropna()
        if len(both):
            lines.append(f"{words} {int((both.iloc[:, 0] > both.iloc[:, 1]).sum())} of {len(both)} settings.")
    gammas = params.text.evaluation.gammas
    known = [dataset for dataset in params.text.datasets if dataset in text_curves.CLASSES]
    chance = [f"{(max(gammas) - min(gammas)) / text_curves.CLASSES[d]:.3f} ({style.name(d)})" for d in known]
    if chance:
        lines.append(f"A guess has the area {', '.join(chance)}.")
    lines += text_curves.depth_notes(table)
    if style.synthetic(params, TASKS):
        lines.append(
            "The data are synthetic and the budget is small: the paper's numbers are for orientation only."
        )
    return lines


def _with_paper(table: pd.DataFrame) -> pd.DataFrame:
    """UT's rows beside the paper's of the same depth; the encoders', which have one depth, beside theirs."""
    paper = tables.paper(PAPER).rename(columns={name: f"paper_{name}" for name in [*ARMS, "layers"]})
    beside = table.merge(paper, how="left", on=["dataset", "model", "eps"])
    beside["same"] = (beside["model"] != "ut_text") | (beside["layers"] == beside["paper_layers"])
    found = [column for column in beside if column.startswith("paper_")]
    beside.loc[~beside["same"], found] = float("nan")
    beside = beside.sort_values([*SETTING, "same"]).drop_duplicates(SETTING, keep="last")
    return beside.drop(columns="same").reset_index(drop=True)


def _quadruple(row: pd.Series) -> list[str]:
    texts = []
    for prefix in ("", "paper_"):
        pair = row[f"{prefix}constrained"], row[f"{prefix}unconstrained"]
        for arm, value, other in zip(ARMS, pair, pair[::-1], strict=True):
            marked = not prefix and bool(row[f"{arm}_marked"])
            text = tables.number(value, 3, bold=bool(value > other), marked=marked)
            if not prefix and row[f"{arm}_trials"] > 1:
                text += f" ({row[f'{arm}_mean']:.3f} ± {row[f'{arm}_sd']:.3f})"
            texts.append(text)
    return texts
