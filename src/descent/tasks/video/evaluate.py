"""Video cells on test clips: RMSE and layer losses over the sweep, and the two reference maps."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import nn

from descent.analysis import replicates, results
from descent.cells import Cell
from descent.config import Params
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Row, Scoring
from descent.schema import PrimalDual
from descent.tasks.video.batches import Noisy, sigma
from descent.tasks.video.data import Prepared, load
from descent.tasks.video.items import TASKS, prepared_folder, problem
from descent.tasks.video.references import Identity, Zero
from descent.tasks.video.sequences import Denoising
from descent.tasks.video.sweep import Sweep, sweep
from descent.training.devices import autocast, choose


class Units(NamedTuple):
    """What is reported of a mean squared error per number of a model's answers."""

    summed: int  # numbers whose squared errors f sums up
    grays: float  # gray levels in one unit of the answers


def units(params: Params, task: type[Noisy], net: nn.Module) -> Units:
    """Those of a model that has learned a task."""
    black, white = net.legal
    summed = params.video.frame.patch**2 if task.patch_loss_of(params) == "sum" else 1
    return Units(summed, 255 / (white - black))


def gammas(params: Params, experiment: str) -> list[float]:
    """The test levels: the uniform sweep, and every training level so that each cell has its own."""
    levels = [*params.evaluation.gammas, *params.budget.video.eps, params.eps]
    if experiment == "infeasible":
        levels.append(params.infeasible.eps)
    return sorted(set(map(float, levels)))


def scoring(params: Params, prepared: Prepared, item: Item, experiment: str) -> Scoring:
    """How the cells of a video matrix item are scored."""
    model = item.cells[0].model
    budget, task = params.budget.video.of(model), TASKS[model]
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, prepared, experiment, item.device),
        problem=partial(_problem, params),
        definition={
            "gammas": gammas(params, experiment),
            "evaluation": params.evaluation.model_dump(),
            "test": budget.model_dump(include={"test_sequences", "test_frames"}),
            "tolerance": params.video.tolerance,
            "code": digest([__name__]),
        },
        elements=None if item.elements is None else item.elements // budget.batch * params.evaluation.batch,
        inputs=len(task.inputs(params, prepared, "test")),
    )


def evaluate_references(params: Params, dataset: str) -> None:
    """Write the rows of the identity and the zero map, the ends between which every denoiser lies."""
    prepared, device = load(prepared_folder(dataset)), choose(params.device)
    sequences = Denoising.inputs(params, prepared, "test")
    levels = gammas(params, "infeasible" if dataset == params.infeasible.dataset else "video")
    tables = []
    for name, net in (("identity", Identity()), ("zero", Zero())):
        cell = Cell("video", dataset, name, "reference", layers=0, eps=0.0, seed=0)
        found = sweep(net, sequences, levels, sigma(params, prepared), 1, params.evaluation, device)
        rows = pd.DataFrame(_rows(units(params, Denoising, net), cell, found, levels, 0))
        tables.append(rows.assign(profile=params.profile, **vars(cell)))
    results.write(pd.concat(tables), Path("data/scores/reference") / f"{dataset}.parquet")


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
    task = TASKS[stack[0].model]
    inputs, levels = task.inputs(params, prepared, "test"), gammas(params, experiment)
    scale = sigma(params, prepared)
    with autocast(device, params.training.precision):
        found = sweep(net, inputs, levels, scale, len(stack), params.evaluation, device, tell)
    told = units(params, task, net)
    resamples = replicates.counts(stack[0].dataset, len(found.sizes), params.evaluation)
    errors = replicates.mean(found.by_item, found.sizes, resamples)
    return [
        [
            *_rows(told, cell, found, levels, index),
            *_replicates(params, told, cell, errors[:, index], levels, len(found.sizes)),
        ]
        for index, cell in enumerate(stack)
    ]


def _replicates(
    params: Params,
    units: Units,
    cell: Cell,
    error: Float[np.ndarray, "gammas depth resamples"],
    levels: Sequence[float],
    items: int,
) -> Iterable[Row]:
    """On every resample of the test clips: mean RMSE within and beyond the training level, whether f_l falls."""
    swept = np.array([level in set(map(float, params.evaluation.gammas)) for level in levels])
    inside = np.array(levels) <= cell.eps + 1e-9
    rmse = units.grays * np.sqrt(error[:, -1])
    own = error[levels.index(cell.eps)]
    scores = {"descending": replicates.descending(own, _problem(params, cell).cap_layer)}
    for name, chosen in (("in", swept & inside), ("out_of", swept & ~inside)):
        if chosen.any():
            scores[f"rmse_{name}_distribution"] = rmse[chosen].mean(axis=0)
    return replicates.rows(scores, items, cell.eps, cell.layers)


def _rows(units: Units, cell: Cell, found: Sweep, levels: Sequence[float], index: int) -> Iterable[Row]:
    """loss of every layer, rmse and rmse_clipped of the last, at every level."""
    for level, error, clipped in zip(levels, found.error[:, index], found.clipped[:, index], strict=True):
        test = {"split": "test", "gamma": level}
        for layer, value in enumerate(error):
            yield test | {"layer": layer, "metric": "loss", "value": units.summed * value}
        last = {"rmse": units.grays * math.sqrt(error[-1]), "rmse_clipped": units.grays * math.sqrt(clipped)}
        for metric, value in last.items():
            yield test | {"layer": cell.layers, "metric": metric, "value": value}
