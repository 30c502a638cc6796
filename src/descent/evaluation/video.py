"""Video cells on test clips: RMSE and layer losses over the sweep, and the two reference maps."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import nn

from descent import results
from descent.cells import Cell
from descent.closure import digest
from descent.datasets.video import Prepared, Sequences, load
from descent.devices import autocast, choose
from descent.evaluation import replicates
from descent.evaluation.scores import Row, Scoring
from descent.evaluation.sweeps import Sweep, sweep
from descent.experiments.video import prepared_folder, problem
from descent.models.reference import Identity, Zero
from descent.params import Params
from descent.schema import PrimalDual
from descent.training.denoising import sigma
from descent.training.items import Item


def gammas(params: Params, experiment: str) -> list[float]:
    """The test levels: the uniform sweep, and every training level so that each cell has its own."""
    levels = [*params.evaluation.gammas, *params.budget.video.eps, params.eps]
    if experiment == "infeasible":
        levels.append(params.infeasible.eps)
    return sorted(set(map(float, levels)))


def scoring(params: Params, prepared: Prepared, item: Item, experiment: str) -> Scoring:
    """How the cells of a video matrix item are scored."""
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, prepared, experiment, item.device),
        problem=partial(_problem, params),
        definition={
            "gammas": gammas(params, experiment),
            "evaluation": params.evaluation.model_dump(),
            "test_sequences": params.budget.video.test_sequences,
            "tolerance": params.video.tolerance,
            "code": digest([__name__]),
        },
        elements=item.elements // params.budget.video.batch * params.evaluation.batch,
        inputs=len(_test_sequences(params, prepared)),
    )


def evaluate_references(params: Params, dataset: str) -> None:
    """Write the rows of the identity and the zero map, the ends between which every denoiser lies."""
    prepared, device = load(prepared_folder(dataset)), choose(params.device)
    sequences = _test_sequences(params, prepared)
    levels = gammas(params, "infeasible" if dataset == params.infeasible.dataset else "video")
    tables = []
    for name, net in (("identity", Identity()), ("zero", Zero())):
        cell = Cell("video", dataset, name, "reference", layers=0, eps=0.0, seed=0)
        found = sweep(net, sequences, levels, sigma(params, prepared), 1, params.evaluation, device)
        rows = pd.DataFrame(_rows(params, cell, found, levels, 0))
        tables.append(rows.assign(profile=params.profile, **vars(cell)))
    results.write(pd.concat(tables), Path("data/scores/reference") / f"{dataset}.parquet")


def _test_sequences(params: Params, prepared: Prepared) -> Sequences:
    budget = params.budget.video
    return prepared.sequences("test", budget.tokens, limit=budget.test_sequences)


def _problem(params: Params, cell: Cell) -> PrimalDual:
    return problem(params, cell.experiment, cell.model)


def _measure(
    params: Params,
    prepared: Prepared,
    experiment: str,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    tell: Callable[[int], Any],
) -> list[list[Row]]:
    sequences, levels = _test_sequences(params, prepared), gammas(params, experiment)
    scale = sigma(params, prepared)
    with autocast(device, params.training.precision):
        found = sweep(net, sequences, levels, scale, len(stack), params.evaluation, device, tell)
    resamples = replicates.counts(stack[0].dataset, len(found.sizes), params.evaluation)
    errors = replicates.mean(found.by_item, found.sizes, resamples)
    return [
        [
            *_rows(params, cell, found, levels, index),
            *_replicates(params, cell, errors[:, index], levels, len(found.sizes)),
        ]
        for index, cell in enumerate(stack)
    ]


def _replicates(
    params: Params,
    cell: Cell,
    error: Float[np.ndarray, "gammas depth resamples"],
    levels: Sequence[float],
    items: int,
) -> Iterable[Row]:
    """On every resample of the test clips: mean RMSE within and beyond the training level, whether f_l falls."""
    swept = np.array([level in set(map(float, params.evaluation.gammas)) for level in levels])
    inside = np.array(levels) <= cell.eps + 1e-9
    rmse = 255 * np.sqrt(error[:, -1])
    own = error[levels.index(cell.eps)]
    scores = {"descending": replicates.descending(own, _problem(params, cell).cap_layer)}
    for name, chosen in (("in", swept & inside), ("out_of", swept & ~inside)):
        if chosen.any():
            scores[f"rmse_{name}_distribution"] = rmse[chosen].mean(axis=0)
    return replicates.rows(scores, items, cell.eps, cell.layers)


def _rows(params: Params, cell: Cell, found: Sweep, levels: Sequence[float], index: int) -> Iterable[Row]:
    """loss of every layer, rmse and rmse_clipped of the last, at every level."""
    scale = params.video.frame.patch**2 if params.video.patch_loss == "sum" else 1
    for level, error, clipped in zip(levels, found.error[:, index], found.clipped[:, index], strict=True):
        test = {"split": "test", "gamma": level}
        for layer, value in enumerate(error):
            yield test | {"layer": layer, "metric": "loss", "value": scale * value}
        last = {"rmse": 255 * math.sqrt(error[-1]), "rmse_clipped": 255 * math.sqrt(clipped)}
        for metric, value in last.items():
            yield test | {"layer": cell.layers, "metric": metric, "value": value}
