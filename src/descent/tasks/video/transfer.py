"""Video cells on test inputs of the data sets that they were not trained on, under the noise of their training."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import nn

from descent import paths
from descent.analysis.results import Row
from descent.analysis.select import TRAINED, TRANSFER
from descent.cells import Cell
from descent.config import Params
from descent.runner import scores
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.items import budget_of, of_model
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.batches import task_of
from descent.tasks.video.data import Prepared, load
from descent.tasks.video.feed import sigma, tested_inputs
from descent.tasks.video.sweep import AtLevels, sweep
from descent.tasks.video.units import UNREAD, rows, units
from descent.training.devices import autocast


def of_all(params: Params) -> pd.DataFrame:
    """The rows of every model in use, trained on each data set in use; none where there is only one.

    Raises:
        UserError: cells that are missing or stale, or prepared data that are missing.
    """
    prepared = [load(paths.prepared_folder(params, "video", name, "")) for name in params.video.datasets]
    asked = []
    for own in prepared if len(prepared) > 1 else ():
        others = [other for other in prepared if other is not own]
        items = [of_model(params, "video", own.name, model) for model in params.video.models]
        asked += [(item, scoring(params, own, others, item)) for item in items]
    tables = scores.evaluate("video on other data sets", asked)
    return pd.concat(tables) if tables else pd.DataFrame()


def scoring(params: Params, own: Prepared, others: Sequence[Prepared], item: Item) -> Scoring:
    """How the cells of a video item, trained on `own`, are scored on the test inputs of the others.

    The noise has the sigma of `own`: a model meets other scenes, and no other noise.
    """
    evaluation = params.video.evaluation
    model = item.cells[0].model
    budget = budget_of(params, model)
    scale = sigma(params, own)
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, others, scale, item.feed.device),
        problem=params.held_to,
        definitions={
            TRANSFER: {
                "levels": evaluation.transfer,
                "sigma": scale,
                "tested": [other.digest for other in others],
                "evaluation": evaluation.model_dump(exclude=UNREAD),
                "test": budget.test_inputs,
                "code": digest((__name__, f"descent.shifts.{TRAINED}")),
            },
        },
        elements=item.feed.elements_at(evaluation.batch),
        inputs=sum(len(tested_inputs(params, model, other)) for other in others),
    )


def _measure(
    params: Params,
    others: Sequence[Prepared],
    scale: float,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    named = set(params.video.evaluation.transfer)
    model = stack[0].model
    levels = sorted(named | {cell.eps for cell in stack})
    apply = apply_of(params, TRAINED)
    how = Sweeping(params.video.evaluation, device, progress)
    found: list[list[Row]] = [[] for _ in stack]
    for other in others:
        inputs = tested_inputs(params, model, other)
        with autocast(device, params.precision_of("video")):
            [swept] = sweep(net.to(device), inputs, [AtLevels(apply, levels, levels)], scale, len(stack), how)
        told = units(params, task_of(model), net)
        for index, cell in enumerate(stack):
            own = named | {cell.eps}  # its neighbours' levels are no business of a cell
            tested = rows(told, cell, swept, levels, index)
            found[index] += [row | {"tested": other.name} for row in tested if row["gamma"] in own]
    yield TRANSFER, found
