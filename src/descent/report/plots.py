"""What `dvc plots` draws: the tracked arm's curves as long CSVs, in words for a reader."""

import pandas as pd

from descent.analysis.select import TRAINED, at_eps, average, last_layer, measured, select
from descent.analysis.summary import best_depth
from descent.analysis.trials import best_text, seeds_are_trials
from descent.cells import headline
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError

CURVES = {  # file stem: task, metric (also the last column), what it is drawn against (the column before)
    "rmse_vs_gamma": ("video", "rmse", "gamma"),
    "loss_per_layer": ("video", "loss", "layer"),
    "loss_vs_epoch": ("video", "loss", "epoch"),
    "accuracy_vs_gamma": ("text", "accuracy", "gamma"),
    "text_loss_per_layer": ("text", "loss", "layer"),
    "text_loss_vs_epoch": ("text", "loss", "epoch"),
    "lm_accuracy_vs_gamma": ("lm", "accuracy", "gamma"),
    "lm_loss_per_layer": ("lm", "loss", "layer"),
    "lm_loss_vs_epoch": ("lm", "loss", "epoch"),
}
COLUMNS = ["arm", "order", "dataset", "model", "layers"]  # order: the place of the arm in `arms`, for its dashes


def curves(results: pd.DataFrame, cells: pd.DataFrame, params: Params, arm: str) -> dict[str, pd.DataFrame]:
    """By file stem: RMSE (0-255) or accuracy (share) against gamma; test losses against layer; validation
    losses of the last layer against epoch.

    Only the given arm, at the task's headline level (the losses also at that test noise), under TRAINED: each
    model and data set at its best depth, averaged over seeds, of text at its best trial where seeds are trials;
    against epoch the cells of that depth whose epochs are kept (the first seed's or trial's). Two revisions then
    differ by what their user changed. A task that is left out has no rows.

    Args:
        cells: `summary.cells_table` of these results.

    Raises:
        UserError: no row of that arm and level, of a task that is in use.
    """
    shown = {task: _shown(results, cells, params, task, arm) for task in TASKS}
    return {stem: _curve(shown[task], task, metric, x, params) for stem, (task, metric, x) in CURVES.items()}


def _shown(results: pd.DataFrame, cells: pd.DataFrame, params: Params, task: str, arm: str) -> pd.DataFrame:
    """The rows of the arm's cells that are drawn: on test data, and of their epochs."""
    part = params.section(task)
    eps = headline(params, task)
    setting = {"experiment": task, "arm": arm, "eps": eps}
    rows = select(results, **setting)
    cells = select(cells, **setting)
    if rows.empty and part.datasets and part.models:
        raise UserError(f"no {task} results of arm {arm!r} at eps {eps:g}: run `dvc repro`")
    if rows.empty:
        return rows
    best = best_text(cells, params) if task == "text" else best_depth(cells, task)
    depth = ["dataset", "model", "layers"]
    shown = [*depth, "seed"] if task == "text" and seeds_are_trials(params) else depth
    tested = select(rows, split="test", shift=TRAINED).merge(best[shown])
    return measured(pd.concat([tested, select(rows, metric="loss_epoch").merge(best[depth])]))


def _curve(shown: pd.DataFrame, task: str, metric: str, x: str, params: Params) -> pd.DataFrame:
    rows = select(shown, metric=f"{metric}_epoch" if x == "epoch" else metric).rename(columns={"bin": "epoch"})
    rows = at_eps(rows) if x == "layer" else last_layer(rows)
    by = ["arm", "dataset", "model", "layers", x]
    table = average(rows, by, over=["seed"]).rename(metric).reset_index()
    part = params.section(task)
    table = table.assign(order=table["arm"].map(params.arms.index))
    place = {"dataset": part.datasets.index, "model": part.models.index}
    table = table.sort_values(by, key=lambda column: column.map(place.get(column.name, lambda value: value)))
    named = {column: table[column].map(params.label) for column in ("arm", "model", "dataset")}
    return table.assign(**named)[[*COLUMNS, x, metric]]
