"""Video cells on test clips: errors and layer losses over the levels of every shift, and the reference maps."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import nn

from descent.analysis import replicates
from descent.analysis.results import Row
from descent.analysis.select import TRAINED
from descent.cells import Cell, headline, reference_cells
from descent.components import load
from descent.config import Params
from descent.models.parts.denoiser import Pixels
from descent.models.parts.inputs import VideoInputs
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Scoring
from descent.tasks.common.items import budget_of, problem, settings_by_arm
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.video.batches import TASKS, DenoisingTask
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import sigma
from descent.tasks.video.layerwise import qualities
from descent.tasks.video.layerwise import rows as layer_rows
from descent.tasks.video.quality import psnr
from descent.tasks.video.references import CLASSICAL, PLAIN, Map
from descent.tasks.video.sweep import Sweep, sweep
from descent.training.devices import autocast, choose


class Units(NamedTuple):
    """What is reported of a mean squared error per number of a model's answers."""

    summed: int  # numbers whose squared errors f sums up
    grays: float  # gray levels in one unit of the answers


def units(params: Params, task: type[DenoisingTask], net: nn.Module) -> Units:
    """Those of a model that has learned a task."""
    black, white = net.legal
    summed = params.video.frame.patch**2 if task.loss_of(params.video.patch_loss) == "sum" else 1
    return Units(summed, 255 / (white - black))


def levels(params: Params, shift: str, more: Iterable[float] = ()) -> list[float]:
    """The levels of a shift: of that of training the uniform sweep and every training level, so that each cell has
    its own; of another its own."""
    grid = params.budget.video.eps
    return levels_of(params, "video", shift, [*grid, headline(params, "video"), *more])


def scorings(params: Params, prepared: Prepared, item: Item) -> list[Scoring]:
    """How the cells of a video item are scored, a shift each."""
    model, evaluation = item.cells[0].model, params.video.evaluation
    budget, module = budget_of(params, model), load("models", model)
    task, own = TASKS[module.INPUTS], [cell.eps for cell in item.cells]
    elements = item.feed.elements
    found = []
    for shift in evaluation.shifts:
        swept = levels(params, shift, own)
        found.append(
            Scoring(
                profile=params.profile,
                shift=shift,
                measure=partial(_measure, params, prepared, task, shift, swept, item.feed.device),
                problem=partial(problem, params),
                definition={
                    "levels": swept,
                    "evaluation": evaluation.model_dump(exclude={"shifts", "classical_frames"}),
                    "test": budget.test_inputs,
                    "tolerance": params.video.tolerance,
                    "shift": params.shifts[shift],
                    "code": digest((__name__, f"descent.shifts.{shift}")),
                },
                elements=None if elements is None else elements // budget.batch * evaluation.batch,
                inputs=len(task.inputs(prepared, budget, "test")),
                trained=shift == TRAINED,
            )
        )
    return found


def also(params: Params, prepared: Prepared, items: Sequence[Item]) -> list[pd.DataFrame]:
    """The rows of the reference maps, in the inputs and units of each model; models may share the work."""
    device, evaluation, scale = choose(params.device), params.video.evaluation, sigma(params, prepared)
    known: dict[str, list[tuple[str, str, Units, Sweep, list[float]]]] = {}
    tables = []
    for item in items:
        model = item.cells[0].model
        module, budget = load("models", model), budget_of(params, model)
        inputs = VideoInputs(params.video.frame.patch, params.local_data)
        if hasattr(module, "space"):
            space, key = module.space(settings_by_arm(params, model)[item.cells[0].arm], budget, inputs), model
        else:
            space, key = Pixels(), module.INPUTS
        task = TASKS[module.INPUTS]
        cells = {cell.arm: cell for cell in reference_cells(params, prepared.name, model)}
        if key not in known:
            tests, run = task.inputs(prepared, budget, "test"), []
            frames = prepared.whole("test", limit=evaluation.classical_frames)
            for shift in evaluation.shifts:
                swept, apply = levels(params, shift), apply_of(params, shift)
                ask = partial(sweep, apply=apply, sigma=scale, cells=1, settings=evaluation, device=device)
                for name, plain in PLAIN.items():
                    if name in cells:
                        run.append((shift, name, ask(Map(space, plain), tests, swept), swept))
                for name, told in CLASSICAL.items() if shift == TRAINED else ():
                    # A filter is told the level, so that every level has its own.
                    parts = [ask(Map(space, told(level * scale)), frames, [level]) for level in swept]
                    run.append((shift, name, _joined(parts), swept))
            known[key] = run
        told_units = units(params, task, space)
        for shift, name, found, swept in known[key]:
            rows = pd.DataFrame(_rows(told_units, cells[name], found, swept, 0))
            tables.append(rows.assign(profile=params.profile, shift=shift, **vars(cells[name])))
    return tables


def _joined(parts: Sequence[Sweep]) -> Sweep:
    return Sweep(
        np.concatenate([part.by_item for part in parts]),
        parts[0].sizes,
        np.concatenate([part.clipped for part in parts]),
        np.concatenate([part.similarity for part in parts]),
    )


def _measure(
    params: Params,
    prepared: Prepared,
    task: type[DenoisingTask],
    shift: str,
    swept: Sequence[float],
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    progress: Callable[[int], Any],
) -> list[list[Row]]:
    evaluation, budget = params.video.evaluation, budget_of(params, stack[0].model)
    inputs, scale = task.inputs(prepared, budget, "test"), sigma(params, prepared)
    with autocast(device, params.training.precision):
        apply = apply_of(params, shift)
        found = sweep(net.to(device), inputs, swept, apply, scale, len(stack), evaluation, device, progress)
    told = units(params, task, net)
    rows = [[*_rows(told, cell, found, swept, index)] for index, cell in enumerate(stack)]
    if shift == TRAINED:
        resamples = replicates.counts(stack[0].dataset, len(found.sizes), evaluation)
        errors = replicates.mean(found.by_item, found.sizes, resamples)
        own = [cell.eps for cell in stack]
        by_layer = qualities(net, inputs, own, apply, scale, evaluation, device)
        for index, cell in enumerate(stack):
            rows[index] += _replicates(params, told, cell, errors[:, index], swept, len(found.sizes))
            rows[index] += layer_rows(by_layer[:, index], cell.eps)
    return rows


def _replicates(
    params: Params,
    units: Units,
    cell: Cell,
    error: Float[np.ndarray, "levels depth resamples"],
    swept: Sequence[float],
    items: int,
) -> Iterable[Row]:
    """On every resample of the test items: mean ln RMSE up to and above the training level, whether f_l falls."""
    gammas = np.array([level in set(map(float, params.video.evaluation.gammas)) for level in swept])
    inside = np.array(swept) <= cell.eps + 1e-9
    log_rmse = np.log(units.grays) + np.log(error[:, -1]) / 2
    own, constraints = error[swept.index(cell.eps)], problem(params, cell)
    scores = {"descending": replicates.descending(own, constraints.cap_layer if constraints else 0)}
    for name, chosen in (("in", gammas & inside), ("out_of", gammas & ~inside)):
        if chosen.any():
            scores[f"log_rmse_{name}_distribution"] = log_rmse[chosen].mean(axis=0)
    return replicates.rows(scores, items, cell.eps, cell.layers)


def _rows(units: Units, cell: Cell, found: Sweep, swept: Sequence[float], index: int) -> Iterable[Row]:
    """loss of every layer; rmse and rmse_clipped, psnr and ssim of the last, at every level."""
    by_level = zip(swept, found.error[:, index], found.clipped[:, index], found.similarity[:, index], strict=True)
    for level, error, clipped, similarity in by_level:
        test = {"split": "test", "gamma": level}
        for layer, value in enumerate(error):
            yield test | {"layer": layer, "metric": "loss", "value": units.summed * value}
        black_to_white = 255 / units.grays
        last = {
            "rmse": units.grays * math.sqrt(error[-1]),
            "rmse_clipped": units.grays * math.sqrt(clipped),
            "psnr": psnr(clipped / black_to_white**2),
            "ssim": similarity,
        }
        for metric, value in last.items():
            if not (
                metric in ("psnr", "ssim") and not math.isfinite(value)
            ):  # no error, or patches below a window
                yield test | {"layer": cell.layers, "metric": metric, "value": value}
