"""Table 3: the mean RMSE over the test noise levels, every setting, both arms, beside the paper's."""

from pathlib import Path

import pandas as pd

from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, style, tables

PAPER = Path("data/paper/table3_video_rmse.csv")
SETTING = ["dataset", "model", "layers", "eps"]
TITLE = "Mean RMSE over test noise levels"
CAPTION = """
RMSE (0-255, lower is better) on held-out test clips, averaged over the levels of evaluation.gammas and over seeds.
Bold: the better arm of a pair. A dagger marks constrained cells that ended infeasible on validation data, and
diverged cells of either arm. Beside ours, the paper's Table 3 where it has the setting. A dash: no such number.
"""
PARAMETERS = [
    "evaluation.gammas",
    "video.datasets",
    "video.models",
    "video.tolerance",
    "eps",
    "profiles.${profile}.video.layers",
    "profiles.${profile}.video.vit",
    "profiles.${profile}.video.eps",
    "profiles.${profile}.video.seeds",
]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per (dataset, model, layers, eps): both arms' means, whether marked, the paper's two numbers.

    Raises UserError where no video cell has rows.
    """
    cells = cells_table(curves.required(results, "evaluate_video", experiment="video"), params)
    trained = cells[cells["method"] != "reference"]
    failed = ~trained["feasible"].fillna(False) & (trained["method"] == "constrained")
    trained = trained.assign(marked=failed | trained["diverged"].fillna(False))
    by_arm = trained.groupby([*SETTING, "method"]).agg(rmse=("mean_rmse", "mean"), marked=("marked", "max"))
    table = by_arm.unstack("method")
    table.columns = [arm if measure == "rmse" else f"{arm}_marked" for measure, arm in table.columns]
    arms = ["constrained", "unconstrained"]
    marks = [f"{arm}_marked" for arm in arms]
    table = table.reindex(columns=[*arms, *marks])
    table[marks] = table[marks].astype("boolean").fillna(False).astype(bool)
    return table.reset_index().merge(_paper(), how="left", on=SETTING)


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Rows model x L x eps; for each data set ours and the paper's, both arms, the better one bold."""
    settings = table[["model", "layers", "eps"]].drop_duplicates()
    order = {model: place for place, model in enumerate(params.video.models)}
    settings = settings.sort_values(
        ["model", "layers", "eps"], key=lambda c: c.map(order) if c.name == "model" else c
    )
    by_setting = table.set_index(["dataset", "model", "layers", "eps"])
    groups = [("", "model"), ("", "L"), ("", "eps")]
    for dataset in params.video.datasets:
        groups += [(style.name(dataset), head) for head in ("constr.", "unconstr.", "paper c.", "paper u.")]
    rows = []
    for model, layers, eps in settings.itertuples(index=False):
        row = [style.name(model), str(layers), f"{eps:g}"]
        for dataset in params.video.datasets:
            key = (dataset, model, layers, eps)
            row += _quadruple(by_setting.loc[key]) if key in by_setting.index else [tables.MISSING] * 4
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(groups))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """The count of wins, ours and the paper's in the same settings; what ViT sees; a warning of synthetic data."""
    lines = []
    for prefix, words in (
        ("", "The constrained arm is better in"),
        ("paper_", "In the same settings of the paper's table it is in"),
    ):
        both = table[[f"{prefix}constrained", f"{prefix}unconstrained"]].dropna()
        if len(both):
            lines.append(f"{words} {int((both.iloc[:, 0] < both.iloc[:, 1]).sum())} of {len(both)} settings.")
    lines += tables.vit_notes(params)
    if style.synthetic(params):
        lines.append(
            "The data are synthetic and the budget is small: the paper's numbers are for orientation only."
        )
    return lines


def _paper() -> pd.DataFrame:
    paper = pd.read_csv(PAPER).rename(columns={"epsilon": "eps"})
    paper["model"], paper["dataset"] = paper["model"].str.lower(), paper["dataset"].str.lower()
    return paper.rename(columns={arm: f"paper_{arm}" for arm in ("constrained", "unconstrained")})


def _quadruple(row: pd.Series) -> list[str]:
    texts = []
    for prefix, digits in (("", 2), ("paper_", 1)):
        pair = row[f"{prefix}constrained"], row[f"{prefix}unconstrained"]
        for arm, value, other in zip(("constrained", "unconstrained"), pair, pair[::-1], strict=True):
            marked = not prefix and bool(row[f"{arm}_marked"])
            texts.append(tables.number(value, digits, bold=bool(value < other), marked=marked))
    return texts
