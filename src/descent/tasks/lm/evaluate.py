"""The language model's cells on test instructions, under every shift."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from descent.analysis import replicates
from descent.analysis.results import Row
from descent.analysis.select import TRAINED
from descent.cells import Cell
from descent.config import Params
from descent.paths import completions_folder
from descent.runner.executor import Job
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.shifted import apply_of, definitions, levels_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.sweep import InstructionSweep, sweep
from descent.training.devices import autocast


def scoring(params: Params, data: Instructions, item: Item) -> Scoring:
    """How the cells of a language model are scored, under every shift in use."""
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, data, item.feed.device),
        problem=params.held_to,
        definitions=definitions(params, "lm", __name__),
        elements=None,
        inputs=len(data.split("test")),
    )


def beside(params: Params, dataset: str, items: Sequence[Item]) -> list[Job]:
    """Nothing beside the cells: chance needs no rows. The folder of completions is there also without a model."""
    completions_folder(dataset).mkdir(parents=True, exist_ok=True)
    return []


def _measure(
    params: Params,
    data: Instructions,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    (cell,), lm = stack, params.lm
    how = Sweeping(lm.evaluation, device, progress)
    for shift in shifts:
        levels = levels_of(params, "lm", shift, [cell.eps])
        with autocast(device, params.precision_of("lm")):
            apply = apply_of(params, shift)
            found = sweep(net.to(device), data, levels, apply, lm.logits_at_once, how)
        if shift == TRAINED:
            of_items = _replicates(params, cell, found, levels)
        else:
            of_items = replicates.over_levels(found.accuracy[:, -1], found.sizes, cell, lm.evaluation)
        yield shift, [[*_rows(found, levels), *of_items]]


def _rows(found: InstructionSweep, levels: Sequence[float]) -> Iterable[Row]:
    """loss and accuracy of every layer at every level, over all response tokens."""
    weights = found.sizes / found.sizes.sum()
    for metric, values in (("loss", found.loss @ weights), ("accuracy", found.accuracy @ weights)):
        for level, by_layer in zip(levels, values.tolist(), strict=True):
            for layer, value in enumerate(by_layer):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}


def _replicates(params: Params, cell: Cell, found: InstructionSweep, levels: Sequence[float]) -> Iterable[Row]:
    """On every resample of the test prompts: accuracies, the area, and whether f_l falls."""
    evaluation = params.lm.evaluation
    prompts = len(found.sizes)
    resamples = replicates.counts(cell.dataset, prompts, evaluation)
    swept = sorted(set(map(float, evaluation.gammas)))
    hits = found.accuracy[[levels.index(level) for level in swept], -1]
    scores = replicates.accuracies(hits, found.sizes, swept, cell.eps, resamples)
    f = replicates.mean(found.loss[levels.index(cell.eps)], found.sizes, resamples)
    scores["descending"] = replicates.descending(f, params.held_to(cell))
    return replicates.rows(scores, prompts, cell.eps, cell.layers)
