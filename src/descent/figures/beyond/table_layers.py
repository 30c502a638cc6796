"""Not in the paper: how good the output of every layer is, by three measures, and of one map that is run on."""

import pandas as pd

from descent.analysis.results import FURTHER
from descent.analysis.select import at_eps, measured, select
from descent.analysis.summary import cells_table
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, pairs, style, tables

DATASET = "ucsd"
MEASURES = {"rmse_layer": ("RMSE ↓", 2), "psnr_layer": ("PSNR ↑, dB", 2), "ssim_layer": ("SSIM ↑", 3)}
TITLE = "RMSE, PSNR and SSIM at every layer"
CAPTION = """
Ours, not the paper's. What the readout makes of each layer's output, on one batch of test inputs spread over the
test set, test noise at the training level: RMSE (0-255) of the output as it is, PSNR and SSIM of the output
clipped to black and white; layer 0 is the input as the model reads it. Of a patch model the SSIM is that of each
patch: of patches below 11 x 11 with the largest window that fits, and a dash below 7 x 7. Every model in use at
its largest depth, headline training level, mean over seeds. Layers in brackets: where all are one map, what it
makes of its own output, applied as often again as in training (RMSE alone). A dagger: a cell of this arm ended
infeasible, or diverged, as the note says; one that diverged is in no mean. A dash under RMSE: all did.
"""
PARAMETERS = ["eps", "arms", "video.evaluation.batch", "video.evaluation.seed", "profiles.${profile}.video"]


def build(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per model, arm and layer: each of MEASURES, of how many seeds, and `state` (curves.state).

    Raises UserError without rows of a model in use.
    """
    dataset = curves.in_use(DATASET, params.video.datasets)
    found, states = [], {}
    for model in params.video.models:
        place = {"dataset": dataset, "model": model, "layers": max(params.model_budget(model)["layers"])}
        eps = headline(params, "video")
        rows = curves.required(results, "evaluate_video", experiment="video", eps=eps, **place)
        found.append(measured(at_eps(select(rows, split="test"))))
        cells = cells_table(rows, params)
        states |= {(model, arm): curves.state(cells, arm=arm) for arm in params.arms}
    rows = pd.concat(found)
    beyond = rows[(rows["metric"] == FURTHER) & (rows["layer"] > rows["layers"])]
    rows = pd.concat([rows, beyond.assign(metric="rmse_layer")])
    rows = rows[rows["metric"].isin(list(MEASURES)) & rows["arm"].isin(params.arms)]
    groups = rows.groupby(["dataset", "model", "layers", "arm", "layer", "metric"])["value"]
    table = groups.mean().unstack("metric").reindex(columns=list(MEASURES))
    seeds = groups.size().groupby(level=[0, 1, 2, 3, 4]).max().rename("seeds")
    table = table.join(seeds).reset_index()
    table["state"] = [states[place] for place in zip(table["model"], table["arm"], strict=True)]
    order = {name: place for place, name in enumerate([*params.video.models, *params.arms])}
    by = ["model", "arm", "layer"]
    return table.sort_values(by, key=lambda own: own.map(lambda word: order.get(word, word)), ignore_index=True)


def display(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """A row per model and layer as text, the arms side by side under each measure."""
    heads = [("", "model"), ("", "layer")]
    heads += [(words, style.name(arm)) for words, _ in MEASURES.values() for arm in params.arms]
    rows = []
    for (model, layers, layer), own in table.groupby(["model", "layers", "layer"], sort=False):
        by_arm = own.set_index("arm").reindex(params.arms)
        numbers = [
            tables.number(by_arm.loc[arm, metric], digits, marked=by_arm.loc[arm, "state"] != "")
            for metric, (_, digits) in MEASURES.items()
            for arm in params.arms
        ]
        rows.append([style.name(model), f"({layer})" if layer > layers else f"{layer}", *numbers])
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))


def notes(table: pd.DataFrame, params: Params) -> list[str]:
    """The data set, depths and seeds, what a dagger stands for; a warning of synthetic data."""
    shown = table.drop_duplicates("model")
    depths = ", ".join(f"{style.name(row.model)} L = {row.layers}" for row in shown.itertuples())
    words = [f"{style.name(name)}: {depths}; seeds: {table['seeds'].max()}." for name in table["dataset"].unique()]
    marked = table[table["state"] != ""].drop_duplicates(["model", "arm"])
    words += [f"† {style.name(row.model)}, {style.name(row.arm)}: {row.state}." for row in marked.itertuples()]
    return words + pairs.orientation(params, style.VIDEO)
