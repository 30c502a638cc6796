"""Text cells on test texts: accuracy and loss over the sweep, and how single texts descend."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from descent.analysis import replicates
from descent.cells import Cell
from descent.config import Params
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Row, Scoring
from descent.schema import PrimalDual
from descent.tasks.text.data import Tokens
from descent.tasks.text.items import setting
from descent.tasks.text.sweep import TextSweep, sweep
from descent.training.devices import autocast

BINS = np.linspace(0, 2, 101)  # lower edges of the histogram of ratios; the last bin has no upper one


def gammas(params: Params, cells: Sequence[Cell]) -> list[float]:
    """The test levels of these cells: the uniform sweep, and the cells' own training levels."""
    return sorted({*map(float, params.text.evaluation.gammas), *(cell.eps for cell in cells)})


def scoring(params: Params, tokens: Tokens, item: Item) -> Scoring:
    """How the cells of a text matrix item are scored."""
    evaluation = params.text.evaluation
    size = getattr(params.budget.text, item.cells[0].model).batch
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, tokens, item.device),
        problem=partial(_problem, params),
        definition={
            "evaluation": evaluation.model_dump(),
            "tolerance": params.text.tolerance,
            "code": digest([__name__]),
        },
        elements=None if item.elements is None else item.elements // size * evaluation.batch,
        inputs=len(tokens.split("test")),
    )


def _problem(params: Params, cell: Cell) -> PrimalDual:
    return setting(params, cell, "constrained").problem


def _measure(
    params: Params,
    tokens: Tokens,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    tell: Callable[[int], Any],
) -> list[list[Row]]:
    levels = gammas(params, stack)
    with autocast(device, params.training.precision):
        found = sweep(net, tokens, levels, [cell.eps for cell in stack], params.text.evaluation, device, tell)
    return [
        [*_rows(params, cell, found, levels, index), *_replicates(params, cell, found, levels, index)]
        for index, cell in enumerate(stack)
    ]


def _rows(params: Params, cell: Cell, found: TextSweep, levels: Sequence[float], index: int) -> Iterable[Row]:
    """loss and accuracy of every layer over the sweep and at the cell's own level, and the ratios at that."""
    asked = set(gammas(params, [cell]))  # its neighbours' levels are no business of a cell
    for metric, values in (("loss", found.loss), ("accuracy", found.accuracy)):
        for level, by_layer in zip(levels, values[:, index], strict=True):
            for layer, value in enumerate(by_layer if level in asked else ()):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}
    own = {"split": "test", "gamma": cell.eps, "layer": cell.layers}
    ratios, target = found.ratios(index), 1 - _problem(params, cell).alpha
    summary = {
        "ratio_mean": ratios.mean(dtype=np.float64),
        "ratio_median": np.median(ratios),
        "ratio_below_one": (ratios < 1).mean(),
        "ratio_below_target": (ratios <= target).mean(),
    }
    for metric, value in summary.items():
        yield own | {"metric": metric, "value": value}
    counts, _ = np.histogram(ratios, [*BINS, np.inf])
    for lower, count in zip(BINS.round(2), counts, strict=True):
        yield own | {"metric": "ratio_share", "bin": lower, "value": count / ratios.size}


def _replicates(
    params: Params, cell: Cell, found: TextSweep, levels: Sequence[float], index: int
) -> Iterable[Row]:
    """On every resample of the test texts: accuracies, the area, whether f_l falls, and the ratios."""
    evaluation, texts = params.text.evaluation, found.hits.shape[-1]
    resamples, once = replicates.counts(cell.dataset, texts, evaluation), np.ones(texts)
    swept = sorted(set(map(float, evaluation.gammas)))
    hits = found.hits[[levels.index(level) for level in swept], index].mean(axis=1)
    scores = replicates.accuracies(hits, once, swept, cell.eps, resamples)
    f = replicates.mean(found.own[index].mean(axis=1, dtype=np.float64), once, resamples)
    scores["descending"] = replicates.descending(f, _problem(params, cell).cap_layer)
    ratios = found.ratios(index).reshape(-1, texts)
    scores["ratio_mean"] = replicates.mean(ratios.mean(axis=0, dtype=np.float64), once, resamples)
    scores["ratio_below_one"] = replicates.mean((ratios < 1).mean(axis=0), once, resamples)
    scores["ratio_median"] = replicates.median(ratios, np.append(BINS, np.inf), resamples)
    return replicates.rows(scores, texts, cell.eps, cell.layers)
