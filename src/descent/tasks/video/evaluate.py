"""Video cells on test clips: errors and layer losses over the levels of every shift.

`beside` makes the rows of the reference maps; with `scoring` it is what a task's `evaluate` has.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from descent.analysis import replicates
from descent.analysis.results import Row
from descent.analysis.select import TRAINED, in_distribution
from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.items import budget_of
from descent.tasks.common.shifted import definitions
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video import bias, layerwise
from descent.tasks.video.batches import task_of
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import sigma, tested_inputs
from descent.tasks.video.reference_rows import beside as beside
from descent.tasks.video.shifted import tested
from descent.tasks.video.sweep import AtLevels, Sweep, sweep
from descent.tasks.video.units import UNREAD, Units, units
from descent.tasks.video.units import rows as rows_in_units
from descent.training.devices import autocast


def scoring(params: Params, prepared: Prepared, item: Item) -> Scoring:
    """How the cells of a video item are scored, under every shift in use that fits its inputs."""
    model = item.cells[0].model
    evaluation = params.video.evaluation
    budget = budget_of(params, model)
    own = [cell.eps for cell in item.cells]
    inputs = tested_inputs(params, model, prepared)
    found = tested(params, inputs, load("models", model).INPUTS, sigma(params, prepared), own)
    tests = {test.apply.name: test for test in found}
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, prepared, tests, item.feed.device),
        problem=params.held_to,
        definitions={
            shift: told | {"levels": tests[shift].levels, "test": budget.test_inputs}
            for shift, told in definitions(params, "video", __name__, UNREAD).items()
            if shift in tests
        },
        elements=item.feed.elements_at(evaluation.batch),
        inputs=len(inputs),
    )


def _measure(
    params: Params,
    prepared: Prepared,
    tests: dict[str, AtLevels],
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    """All shifts together, each batch read once; of a stack that is ended half-way no shift is kept."""
    evaluation = params.video.evaluation
    task = task_of(stack[0].model)
    inputs = tested_inputs(params, stack[0].model, prepared)
    scale = sigma(params, prepared)
    asked = [tests[shift] for shift in shifts]
    how = Sweeping(evaluation, device, progress)
    with autocast(device, params.precision_of("video")):
        swept = sweep(net.to(device), inputs, asked, scale, len(stack), how)
    told = units(params, task, net)
    resamples = replicates.counts(stack[0].dataset, len(swept[0].sizes), evaluation)
    for test, found in zip(asked, swept, strict=True):
        errors = replicates.mean(found.by_item, found.sizes, resamples)
        rows = [_of_cell(params, told, stack, found, test, errors, index) for index in range(len(stack))]
        if test.apply.name == TRAINED:
            own = [cell.eps for cell in stack]
            with autocast(device, params.precision_of("video")):
                by_layer = layerwise.told(net, inputs, own, test.apply, scale, how)
                in_parts = bias.told(net, inputs, stack, test, scale, how)
                rows = [[*chain(*own)] for own in zip(rows, by_layer, in_parts, strict=True)]
        yield test.apply.name, rows


def _of_cell(
    params: Params,
    told: Units,
    stack: Sequence[Cell],
    found: Sweep,
    test: AtLevels,
    errors: Float[np.ndarray, "levels cells depth resamples"],
    index: int,
) -> list[Row]:
    cell = stack[index]
    own = errors[:, index]
    if test.apply.name == TRAINED:
        scores = _scores(params, told, cell, own, test.levels)
    else:
        scores = {"log_rmse": _log_rmse(told, own).mean(axis=0)}
    resampled = replicates.rows(scores, len(found.sizes), cell.eps, cell.layers)
    return [*rows_in_units(told, cell, found, test.levels, index), *resampled]


def _scores(
    params: Params,
    units: Units,
    cell: Cell,
    error: Float[np.ndarray, "levels depth resamples"],
    swept: Sequence[float],
) -> dict[str, np.ndarray]:
    """On every resample of the test items: mean ln RMSE up to and above the training level, whether f_l falls."""
    gammas = np.array([level in set(map(float, params.video.evaluation.gammas)) for level in swept])
    inside = in_distribution(np.array(swept), cell.eps)
    own = error[swept.index(cell.eps)]
    scores = {"descending": replicates.descending(own, params.held_to(cell))}
    for name, chosen in (("in", gammas & inside), ("out_of", gammas & ~inside)):
        if chosen.any():
            scores[f"log_rmse_{name}_distribution"] = _log_rmse(units, error)[chosen].mean(axis=0)
    return scores


def _log_rmse(
    units: Units, error: Float[np.ndarray, "levels depth resamples"]
) -> Float[np.ndarray, "levels resamples"]:
    """ln of the last layer's RMSE."""
    return np.log(units.grays) + np.log(error[:, -1]) / 2
