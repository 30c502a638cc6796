"""Text cells on test texts: accuracy and loss over the levels of every shift, and how single texts descend."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from descent.analysis import replicates
from descent.analysis.results import Row
from descent.analysis.select import TRAINED
from descent.cells import Cell
from descent.config import Params
from descent.runner.executor import Job
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.shifted import apply_of, definitions, levels_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.text.data import Tokens
from descent.tasks.text.sweep import TextSweep, sweep
from descent.training.devices import autocast

BINS = np.linspace(0, 2, 101)  # lower edges of the histogram of ratios; the last bin has no upper one


def scoring(params: Params, tokens: Tokens, item: Item) -> Scoring:
    """How the cells of a text item are scored, under every shift in use."""
    evaluation = params.text.evaluation
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, tokens, item.feed.device),
        problem=params.held_to,
        definitions=definitions(params, "text", __name__),
        elements=item.feed.elements_at(evaluation.batch),
        inputs=len(tokens.split("test")),
    )


def beside(params: Params, dataset: str, items: Sequence[Item]) -> list[Job]:
    """Nothing beside the cells: chance needs no rows."""
    return []


def _measure(
    params: Params,
    tokens: Tokens,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    own = [cell.eps for cell in stack]
    how = Sweeping(params.text.evaluation, device, progress)
    for shift in shifts:
        levels = levels_of(params, "text", shift, own)
        with autocast(device, params.precision_of("text")):
            apply = apply_of(params, shift)
            found = sweep(net.to(device), tokens, levels, apply, own, how)
        yield shift, [_of_cell(params, tokens, stack, found, levels, index, shift) for index in range(len(stack))]


def _of_cell(
    params: Params,
    tokens: Tokens,
    stack: Sequence[Cell],
    found: TextSweep,
    levels: Sequence[float],
    index: int,
    shift: str,
) -> list[Row]:
    cell = stack[index]
    rows = [*_rows(params, stack[index], found, levels, index, shift)]
    if shift != TRAINED:
        hits = found.hits[:, index].mean(axis=1)
        return [*rows, *replicates.over_levels(hits, np.ones(hits.shape[1]), cell, params.text.evaluation)]
    frequent = np.bincount(tokens.split("test").labels).max() / len(tokens.split("test"))
    place = {"split": "test", "gamma": cell.eps, "layer": cell.layers}
    rows.append(place | {"metric": "most_frequent", "value": frequent})
    return [*rows, *_descents(params, cell, found, index), *_replicates(params, cell, found, levels, index)]


def _rows(
    params: Params, cell: Cell, found: TextSweep, levels: Sequence[float], index: int, shift: str
) -> Iterable[Row]:
    """loss and accuracy of every layer over the sweep and, of the shift of training, at the cell's own level."""
    own = set(levels_of(params, "text", shift, [cell.eps]))  # its neighbours' levels are no business of a cell
    for metric, values in (("loss", found.loss), ("accuracy", found.accuracy)):
        for level, by_layer in zip(levels, values[:, index], strict=True):
            for layer, value in enumerate(by_layer if level in own else ()):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}


def _descents(params: Params, cell: Cell, found: TextSweep, index: int) -> Iterable[Row]:
    """The ratios of successive layer losses of single texts at the cell's own level."""
    own = {"split": "test", "gamma": cell.eps, "layer": cell.layers}
    ratios = found.ratios(index)
    constraints = params.held_to(cell)
    summary = {
        "ratio_mean": ratios.mean(dtype=np.float64),
        "ratio_median": np.median(ratios),
        "ratio_below_one": (ratios < 1).mean(),
    }
    if constraints is not None:
        summary["ratio_below_target"] = (ratios <= 1 - constraints.alpha).mean()
    for metric, value in summary.items():
        yield own | {"metric": metric, "value": value}
    counts, _ = np.histogram(ratios, [*BINS, np.inf])
    for lower, count in zip(BINS.round(2), counts, strict=True):
        yield own | {"metric": "ratio_share", "bin": lower, "value": count / ratios.size}


def _replicates(
    params: Params, cell: Cell, found: TextSweep, levels: Sequence[float], index: int
) -> Iterable[Row]:
    """On every resample of the test texts: accuracies, the area, whether f_l falls, and the ratios."""
    evaluation = params.text.evaluation
    texts = found.hits.shape[-1]
    resamples = replicates.counts(cell.dataset, texts, evaluation)
    once = np.ones(texts)
    swept = sorted(set(map(float, evaluation.gammas)))
    hits = found.hits[[levels.index(level) for level in swept], index].mean(axis=1)
    scores = replicates.accuracies(hits, once, swept, cell.eps, resamples)
    f = replicates.mean(found.own[index].mean(axis=1, dtype=np.float64), once, resamples)
    scores["descending"] = replicates.descending(f, params.held_to(cell))
    ratios = found.ratios(index).reshape(-1, texts)
    scores["ratio_mean"] = replicates.mean(ratios.mean(axis=0, dtype=np.float64), once, resamples)
    scores["ratio_below_one"] = replicates.mean((ratios < 1).mean(axis=0), once, resamples)
    scores["ratio_median"] = replicates.median(ratios, np.append(BINS, np.inf), resamples)
    return replicates.rows(scores, texts, cell.eps, cell.layers)
