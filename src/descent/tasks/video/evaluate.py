"""Video cells on test clips: errors and layer losses over the levels of every shift, and the reference maps."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import nn

from descent import paths
from descent.analysis import replicates
from descent.analysis.results import Row
from descent.analysis.select import TRAINED, in_distribution
from descent.cells import Cell, headline, reference_cells
from descent.components import load
from descent.config import Params
from descent.models.parts.denoiser import Pixels
from descent.models.parts.inputs import VideoInputs
from descent.runner.executor import Job
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.video import data
from descent.tasks.video.batches import TASKS, DenoisingTask, Inputs
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import sigma
from descent.tasks.video.layerwise import qualities
from descent.tasks.video.layerwise import rows as layer_rows
from descent.tasks.video.references import CLASSICAL, IDENTITY, PLAIN, Filter, Map, Once
from descent.tasks.video.sweep import AtLevels, Sweep, sweep
from descent.tasks.video.units import UNREAD, Units, units
from descent.tasks.video.units import rows as rows_in_units
from descent.tasks.video.views import moments
from descent.training.devices import autocast


def levels(params: Params, shift: str, more: Iterable[float] = ()) -> list[float]:
    """The levels of a shift: of that of training the uniform sweep and every training level, so that each cell has
    its own; of another its own."""
    grid = params.budget.video.eps
    return levels_of(params, "video", shift, [*grid, headline(params, "video"), *more])


def tested(params: Params, inputs: Inputs, kind: str, scale: float, more: Iterable[float] = ()) -> list[AtLevels]:
    """The shifts in use that fit these inputs: single frames have no time that a shift could change.

    Raises:
        UserError: a section that is not right, or a level that is out of its shift's range.
    """
    found, known = [], None
    for name in params.shifts_of("video"):
        apply = apply_of(params, name)
        swept = levels(params, name, more)
        if apply.sees == "time" and kind == "frames":
            continue
        if apply.converts and known is None:
            known = moments(inputs, params.video.evaluation.batch)
        strengths = apply.strengths(swept, scale, *(known or (0.0, 0.0)))
        found.append(AtLevels(apply, swept, strengths))
    return found


def scoring(params: Params, prepared: Prepared, item: Item) -> Scoring:
    """How the cells of a video item are scored, under every shift in use that fits its inputs."""
    model = item.cells[0].model
    evaluation = params.video.evaluation
    budget = budget_of(params, model)
    module = load("models", model)
    task = TASKS[module.INPUTS]
    own = [cell.eps for cell in item.cells]
    elements = item.feed.elements
    inputs = task.inputs(prepared, budget, "test")
    found = tested(params, inputs, module.INPUTS, sigma(params, prepared), own)
    tests = {test.apply.name: test for test in found}
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, prepared, task, tests, item.feed.device),
        problem=params.held_to,
        definitions={
            shift: {
                "levels": test.levels,
                "evaluation": evaluation.model_dump(exclude=UNREAD),
                "test": budget.test_inputs,
                "tolerance": params.video.tolerance,
                "shift": params.shifts[shift],
                "code": digest((__name__, f"descent.shifts.{shift}")),
            }
            for shift, test in tests.items()
        },
        elements=None if elements is None else elements // budget.batch * evaluation.batch,
        inputs=len(inputs),
    )


def beside(params: Params, dataset: str, items: Sequence[Item]) -> list[Job]:
    """What makes the rows of the reference maps."""
    if not items:
        return []
    prepared = data.load(paths.prepared_folder(params, "video", dataset, ""))
    work = partial(_references, params, prepared, items[0].feed.device)
    return [Job([item.cells[0] for item in items], work, threads=1)]


def references(params: Params, prepared: Prepared, device: torch.device, firsts: Sequence[Cell]) -> pd.DataFrame:
    """The rows of the reference maps, in the inputs and units of each model; models may share the work.

    Args:
        firsts: a cell of each model.
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
        task = TASKS[module.INPUTS]
        cells = {cell.arm: cell for cell in reference_cells(params, prepared.name, model)}
        if key not in known:
            inputs = task.inputs(prepared, budget, "test")
            frames = prepared.whole("test", limit=evaluation.classical_frames)
            tests = tested(params, inputs, module.INPUTS, scale)
            ask = partial(sweep, sigma=scale, cells=1, settings=evaluation, device=device)
            plain = {name: Map(space, PLAIN[name]) for name in PLAIN if name in cells}
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


def _references(
    params: Params,
    prepared: Prepared,
    device: torch.device,
    firsts: Sequence[Cell],
    progress: Callable[[int], Any],
) -> pd.DataFrame:
    """As a job; no part of the bar."""
    return references(params, prepared, device, firsts)


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


def _measure(
    params: Params,
    prepared: Prepared,
    task: type[DenoisingTask],
    tests: dict[str, AtLevels],
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    """All shifts together, each batch read once; of a stack that is ended half-way no shift is kept."""
    evaluation = params.video.evaluation
    budget = budget_of(params, stack[0].model)
    inputs = task.inputs(prepared, budget, "test")
    scale = sigma(params, prepared)
    asked = [tests[shift] for shift in shifts]
    sizes = (len(stack), evaluation, device)
    with autocast(device, params.precision_of("video")):
        swept = sweep(net.to(device), inputs, asked, scale, *sizes, progress)
    told = units(params, task, net)
    resamples = replicates.counts(stack[0].dataset, len(swept[0].sizes), evaluation)
    for test, found in zip(asked, swept, strict=True):
        errors = replicates.mean(found.by_item, found.sizes, resamples)
        rows = [_of_cell(params, told, stack, found, test, errors, index) for index in range(len(stack))]
        if test.apply.name == TRAINED:
            own = [cell.eps for cell in stack]
            with autocast(device, params.precision_of("video")):
                by_layer = qualities(net, inputs, own, test.apply, scale, evaluation, device)
            rows = [[*of_cell, *layer_rows(by_layer[:, index], own[index])] for index, of_cell in enumerate(rows)]
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
    constraints = params.held_to(cell)
    scores = {"descending": replicates.descending(own, constraints.cap_layer if constraints else 0)}
    for name, chosen in (("in", gammas & inside), ("out_of", gammas & ~inside)):
        if chosen.any():
            scores[f"log_rmse_{name}_distribution"] = _log_rmse(units, error)[chosen].mean(axis=0)
    return scores


def _log_rmse(
    units: Units, error: Float[np.ndarray, "levels depth resamples"]
) -> Float[np.ndarray, "levels resamples"]:
    """ln of the last layer's RMSE."""
    return np.log(units.grays) + np.log(error[:, -1]) / 2


def _strengths(test: AtLevels) -> Iterable[Row]:
    for level, strength in zip(test.levels, test.strengths, strict=True):
        yield {"split": "test", "gamma": level, "layer": 0, "metric": "strength", "value": strength}
