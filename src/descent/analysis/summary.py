"""From the results table to one row per trained cell, the depth to show, and a handful of metrics."""

from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis.lm_metrics import lm_metrics
from descent.analysis.select import CELL, at_eps, last_layer, mean, measured, select, whole_sweep
from descent.analysis.trials import text_columns, text_metrics
from descent.cells import (
    ABLATIONS,
    LM,
    ablation_cells,
    infeasible_cells,
    lm_cells,
    scores_file,
    text_cells,
    video_cells,
)
from descent.config import Params
from descent.errors import UserError

SETTING = ["dataset", "model", "method", "eps"]
PAIR = ["dataset", "model", "layers", "eps", "seed"]  # what two cells share that differ by their arm alone


def declared(params: Params) -> dict[Path, list[tuple]]:
    """The score files that params.yaml asks for and the identities (CELL without profile) each must hold.

    One file for every data set x model x method of video and of text, one for each arm of the language model and
    of the infeasible cell, one with the two reference maps of each video data set in use, one for each ablation.
    """
    video, text, asked = params.video, params.text, params.infeasible
    groups = [
        ("video", video_cells, (d, m, a)) for d in video.datasets for m in video.models for a in video.methods
    ]
    groups += [("text", text_cells, (d, m, a)) for d in text.datasets for m in text.models for a in text.methods]
    groups += [("lm", lm_cells, (*LM, a)) for a in params.lm.methods]
    groups += [("infeasible", infeasible_cells, (asked.dataset, asked.model, a)) for a in video.methods]
    files = {
        scores_file(experiment, *item): [_identity(cell) for cell in cells_of(params, *item)]
        for experiment, cells_of, item in groups
    }
    for dataset in dict.fromkeys([*video.datasets, asked.dataset]):
        maps = [("video", dataset, name, "reference", 0, 0.0, 0, "") for name in ("identity", "zero")]
        files[Path("data/scores/reference") / f"{dataset}.parquet"] = maps
    for experiment in ABLATIONS:
        cells = ablation_cells(params, experiment)
        files[Path("data/scores/ablation") / f"{experiment}.parquet"] = [_identity(cell) for cell in cells]
    return files


def check_declared(results: pd.DataFrame, params: Params) -> None:
    """Raises UserError where the table holds cells that were not asked for, or lacks some that were."""
    asked = {identity for identities in declared(params).values() for identity in identities}
    found = set(results[CELL[1:]].drop_duplicates().itertuples(index=False, name=None))
    for cells, fault in ((found - asked, "not asked for by params.yaml"), (asked - found, "missing")):
        if cells:
            first = " ".join(str(word) for word in min(cells))
            raise UserError(f"the scores of {len(cells)} cells are {fault}, e.g. {first}: run `dvc repro`")


def cells_table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per cell, reference maps included; a number that cannot be computed is missing (NA).

    Columns beside CELL: RMSE (0-255, test data) as plain means over `evaluation.gammas`: all of them
    (`mean_rmse`, `mean_rmse_clipped`), those up to the training level (`rmse_in_distribution`), those
    above it (`rmse_out_of_distribution`); `rmse_at_eps`; on validation data `validation_loss` of the last
    layer, `worst_violation` (relative, <= 0 satisfied), `feasible`, and `descending`: the loss falls
    strictly from the first constrained layer to the last; `worst_violation_test` and `feasible_test`;
    `diverged` and `epoch` as evaluation wrote them; for text those of `summary_text.text_columns`.
    A mean over a sweep with holes would not be comparable, so it is missing.
    """
    known = measured(results)
    rmse = whole_sweep(known, "rmse", params.evaluation.gammas)
    trained = rmse["method"] != "reference"  # a map is not trained: nothing is in or out of distribution
    inside = rmse["gamma"] <= rmse["eps"] + 1e-9
    rmse_at_eps = at_eps(select(known, metric="rmse"))
    losses = select(known, metric="validation_loss")
    verdicts = {"": select(known, split="validation"), "_test": select(known, split="test")}
    columns = {
        "mean_rmse": mean(rmse),
        "rmse_in_distribution": mean(rmse[trained & inside]),
        "rmse_out_of_distribution": mean(rmse[trained & ~inside]),
        "rmse_at_eps": mean(rmse_at_eps[rmse_at_eps["method"] != "reference"]),
        "mean_rmse_clipped": mean(whole_sweep(known, "rmse_clipped", params.evaluation.gammas)),
        "validation_loss": mean(last_layer(losses)),
        **{f"worst_violation{on}": _largest(select(rows, metric="violation")) for on, rows in verdicts.items()},
        **{f"feasible{on}": mean(select(rows, metric="feasible")) for on, rows in verdicts.items()},
        **{name: mean(select(known, metric=name)) for name in ("diverged", "epoch")},
        "descending": _descending(losses, first_constrained(known)),
        **text_columns(known, params),
    }
    table = results[CELL].drop_duplicates().set_index(CELL).join(pd.DataFrame(columns)).sort_index()
    truths = ("feasible", "feasible_test", "diverged", "descending")
    return table.astype({**dict.fromkeys(truths, "boolean"), "epoch": "Int64"}).reset_index()


def first_constrained(results: pd.DataFrame) -> pd.Series:
    """The first layer with a constraint (the cap's), by cell; both arms have one."""
    return select(results, metric="violation", split="validation").groupby(CELL)["layer"].min()


def best_depth(cells: pd.DataFrame) -> pd.DataFrame:
    """The depth to show for each (dataset, model, method, eps), averaged over seeds.

    Rule: the lowest validation loss of the last layer. In the constrained arm a depth whose cells are all
    feasible goes before one with an infeasible cell, so an infeasible depth is chosen only where no other
    is left (and is then marked in the figures). Diverged depths, and those without a loss, come last.
    """
    trained = select(cells, experiment="video")
    trained = trained[trained["method"] != "reference"]
    depths = trained.assign(
        infeasible=(trained["method"] == "constrained") & ~trained["feasible"].fillna(False).astype(bool),
        diverged=trained["diverged"].fillna(False).astype(bool),
    )
    measures = {"diverged": "max", "infeasible": "max", "validation_loss": "mean"}
    depths = depths.groupby([*SETTING, "layers"]).agg(measures).reset_index()
    return (
        depths.sort_values([*measures, "layers"]).drop_duplicates(SETTING).sort_values(SETTING, ignore_index=True)
    )


def pairs(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """One measure of both arms side by side (columns: the methods) where both have it; index PAIR."""
    wide = select(cells, experiment="video").pivot(index=PAIR, columns="method", values=column)
    return wide.reindex(columns=["constrained", "unconstrained"]).dropna().astype(float)


def metrics(cells: pd.DataFrame, params: Params) -> dict[str, Any]:
    """The numbers that `dvc metrics` compares: "video" at the headline level `eps`, "text" at `text.eps`, "lm".

    RMSE: the median over data sets and models of the cells at their best depth (a median, because one
    collapsed run would rule a mean). Shares: of all cells of that level. Text: `summary_text.text_metrics`,
    language model: `summary_lm.lm_metrics`.
    What is not known is left out.
    """
    headline = select(cells, experiment="video", eps=float(params.eps))
    shown = headline.merge(best_depth(headline)[[*SETTING, "layers"]])
    video: dict[str, Any] = {}
    for name in ("rmse_in_distribution", "rmse_out_of_distribution"):
        video[name] = shown.groupby("method")[name].median()
    video["descending_share"] = headline.groupby("method")["descending"].mean()
    constrained = select(headline, method="constrained").groupby("method")
    video["feasible_share"] = constrained["feasible"].mean()
    video["worst_violation"] = constrained["worst_violation"].max()
    numbers = {name: {m: float(f"{v:.5g}") for m, v in by.dropna().items()} for name, by in video.items()}
    both = pairs(headline, "mean_rmse")
    if len(both):
        numbers["constrained_wins_share"] = round(float((both["constrained"] < both["unconstrained"]).mean()), 4)
    parts = {"video": {n: v for n, v in numbers.items() if v != {}}, "text": text_metrics(cells, params)}
    parts["lm"] = lm_metrics(cells)
    return {name: part for name, part in parts.items() if part}


def _identity(cell: Any) -> tuple:
    return tuple(getattr(cell, column) for column in CELL[1:])


def _largest(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby(CELL)["value"].max()


def _descending(losses: pd.DataFrame, first: pd.Series) -> pd.Series:
    from_cap = losses.join(first.rename("first"), on=CELL)
    from_cap = from_cap[from_cap["layer"] >= from_cap["first"]].sort_values("layer")
    steps = from_cap.groupby(CELL)["value"].diff().dropna()
    return (steps < 0).groupby([from_cap.loc[steps.index, key] for key in CELL]).all()
