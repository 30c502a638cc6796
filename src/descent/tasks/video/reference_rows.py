"""The rows of the maps that learn nothing, beside those of cells: in the inputs and units of each model."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from descent import paths
from descent.analysis.results import Row
from descent.analysis.select import TRAINED
from descent.cells import Cell, reference_cells
from descent.components import load
from descent.config import Params
from descent.models.parts.denoiser import Pixels
from descent.models.parts.inputs import VideoInputs
from descent.runner.executor import Job
from descent.runner.items import Item
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video import data
from descent.tasks.video.batches import Inputs, task_of
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import sigma, tested_inputs
from descent.tasks.video.references import CLASSICAL, IDENTITY, UNTOLD, Filter, Map, Once
from descent.tasks.video.shifted import tested
from descent.tasks.video.sweep import AtLevels, Sweep, sweep
from descent.tasks.video.units import rows as rows_in_units
from descent.tasks.video.units import units


def beside(params: Params, dataset: str, items: Sequence[Item]) -> list[Job]:
    """What makes the rows of the reference maps."""
    if not items:
        return []
    prepared = data.load(paths.prepared_folder(params, "video", dataset, ""))
    work = partial(references, params, prepared, items[0].feed.device)
    return [Job([item.cells[0] for item in items], work, threads=1)]


def references(
    params: Params,
    prepared: Prepared,
    device: torch.device,
    firsts: Sequence[Cell],
    progress: Callable[[int], Any],
) -> pd.DataFrame:
    """The rows of the reference maps, in the inputs and units of each model; models may share the work.

    Args:
        firsts: a cell of each model.
        progress: of a job; these are no part of the bar.
    """
    evaluation = params.video.evaluation
    scale = sigma(params, prepared)
    known: dict[str | tuple, list[tuple[AtLevels, str, Sweep]]] = {}  # by what the maps are measured on
    classical = {name: cache(partial(Once, told)) for name, told in CLASSICAL.items()}  # for all models' spaces
    tables = []
    for first in firsts:
        model = first.model
        module = load("models", model)
        budget = budget_of(params, model)
        if hasattr(module, "space"):
            own = VideoInputs(params.video.frame.patch, params.local_data)
            space = module.space(settings_by_arm(params, model)[first.arm], budget, own)
            key = model
        else:
            space = Pixels()
            key = (module.INPUTS, budget.test_inputs, budget.tokens)
        task = task_of(model)
        cells = {cell.arm: cell for cell in reference_cells(params, prepared.name, model)}
        if key not in known:
            inputs = tested_inputs(params, model, prepared)
            frames = prepared.whole("test", limit=evaluation.classical_frames)
            tests = tested(params, inputs, module.INPUTS, scale)
            ask = partial(sweep, sigma=scale, cells=1, how=Sweeping(evaluation, device))
            plain = {name: Map(space, UNTOLD[name]) for name in UNTOLD if name in cells}
            known[key] = [
                *_plain(ask, plain, inputs, tests),
                *_classical(ask, space, classical, scale, frames, tests),
            ]
        told_units = units(params, task, space)
        for test, name, found in known[key]:
            rows = [*rows_in_units(told_units, cells[name], found, test.levels, 0)]
            if name == IDENTITY and test.apply.converts:
                rows += _strengths(test)
            tables.append(
                pd.DataFrame(rows).assign(profile=params.profile, shift=test.apply.name, **vars(cells[name]))
            )
    return pd.concat(tables)


Ask = Callable[..., list[Sweep]]  # a map, inputs, and shifts at their levels
Found = Iterable[tuple[AtLevels, str, Sweep]]


def _plain(ask: Ask, maps: dict[str, Map], inputs: Inputs, tests: Sequence[AtLevels]) -> Found:
    for name, own in maps.items():
        for test, found in zip(tests, ask(own, inputs, tests), strict=True):
            yield test, name, found


def _classical(
    ask: Ask,
    space: nn.Module,
    filters: dict[str, Callable[[float], Filter]],
    scale: float,
    frames: Inputs,
    tests: Sequence[AtLevels],
) -> Found:
    """Under the shift of training alone. A filter is told the level, so that every level has its own."""
    for test in (test for test in tests if test.apply.name == TRAINED):
        for name, told in filters.items():
            levels = [AtLevels(test.apply, [level], [level]) for level in test.levels]
            every = [ask(Map(space, told(own.levels[0] * scale)), frames, [own])[0] for own in levels]
            by_item, clipped, similarity = (
                np.concatenate([getattr(one, part) for one in every])
                for part in ("by_item", "clipped", "similarity")
            )
            yield test, name, Sweep(by_item, every[0].sizes, clipped, similarity)


def _strengths(test: AtLevels) -> Iterable[Row]:
    for level, strength in zip(test.levels, test.strengths, strict=True):
        yield {"split": "test", "gamma": level, "layer": 0, "metric": "strength", "value": strength}
