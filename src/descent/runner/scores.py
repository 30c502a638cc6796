"""A matrix item from trained cells to rows of the results table, whatever its task."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from descent.analysis import results
from descent.cells import WHY, Cell
from descent.primal_dual.constraints import relative_violations
from descent.runner import store
from descent.runner.executor import run_all
from descent.runner.items import Item
from descent.schema import PrimalDual
from descent.training.settings import Setting

Row = dict[str, object]
Measure = Callable[[nn.Module, Sequence[Cell], Callable[[int], Any]], list[list[Row]]]


@dataclass(frozen=True)
class Scoring:
    """How trained cells are scored on test data.

    Attributes:
        measure: rows of `loss` and more, a list for each cell of the stack; told of the inputs done, times cells.
        problem: the constraints that a cell is held to, also those of the unconstrained arm.
        definition: what the scores depend on beside the weights.
        elements: numbers in one state of one cell; None: cells are scored one by one.
        inputs: how many inputs of one cell are measured.
    """

    profile: str
    measure: Measure
    problem: Callable[[Cell], PrimalDual]
    definition: dict[str, Any]
    elements: int | None
    inputs: int


def evaluate(item: Item, scoring: Scoring, out: Path) -> None:
    """Write the score file of one matrix item; cells scored before are taken from the store.

    Raises:
        UserError: a cell that is missing or stale.
    """
    settings = item.settings | {
        cell: Setting.recorded(store.record(item.runs, cell)["setting"]) for cell in item.searched
    }
    names = {cell: item.fingerprint(cell, settings[cell]) for cell in item.cells}
    for cell in item.cells:
        store.check(item.runs, cell, names[cell])
    files = {cell: _score_file(scoring, cell, names[cell]) for cell in item.cells}
    missing = [cell for cell in item.cells if not files[cell].exists()]
    stacks = item.stacks(missing, settings, scoring.elements)
    work = partial(_score_stack, item, scoring, settings, files)
    with tqdm(total=len(missing) * scoring.inputs, desc=item.name, unit="input") as bar:
        run_all(stacks, work, item.device, len(stacks), bar.update)
    # A score file does not say why its cell was trained: experiments that share cells share their scores.
    tables = [pd.read_parquet(file).assign(**vars(cell)) for cell, file in files.items()]
    results.write(pd.concat(tables), out)


def _score_file(scoring: Scoring, cell: Cell, fingerprint: str) -> Path:
    """A cell's rows in the store, by all that they depend on."""
    identity = {key: value for key, value in vars(cell).items() if key not in WHY}
    definition = [fingerprint, identity, scoring.profile, scoring.problem(cell).model_dump(), scoring.definition]
    name = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:32]
    return store.root() / "scores" / f"{name}.parquet"


def _score_stack(
    item: Item,
    scoring: Scoring,
    settings: dict[Cell, Setting],
    files: dict[Cell, Path],
    stack: Sequence[Cell],
    tell: Callable[[int], Any],
) -> None:
    weights = [store.weights(item.runs, cell) for cell in stack]
    net = item.build(stack)
    net.load_state_dict({name: torch.stack([own[name] for own in weights]) for name in weights[0]})
    measured = scoring.measure(net.to(item.device).eval(), stack, tell)
    for cell, tested in zip(stack, measured, strict=True):
        record, losses = store.record(item.runs, cell), store.validation_losses(item.runs / cell.name)
        tested = tested if record["epoch"] else []  # it diverged before it learned anything: nothing to score
        rows = [*tested, *_held(scoring, cell, "test", _losses_at_eps(cell, tested), item.tolerance)]
        rows += [_row("validation", cell, layer, "validation_loss", v) for layer, v in enumerate(losses)]
        rows += _held(scoring, cell, "validation", losses, item.tolerance)
        verdicts = {"diverged": record["diverged"], "epoch": record["epoch"], **_numbers(settings[cell])}
        rows += [_row("validation", cell, cell.layers, name, value) for name, value in verdicts.items()]
        results.write(pd.DataFrame(rows).assign(profile=scoring.profile, **vars(cell)), files[cell])


def _row(split: str, cell: Cell, layer: int, metric: str, value: float | int) -> Row:
    return {"split": split, "gamma": cell.eps, "layer": layer, "metric": metric, "value": float(value)}


def _losses_at_eps(cell: Cell, tested: Iterable[Row]) -> list[float]:
    losses = [row for row in tested if row["metric"] == "loss" and row["gamma"] == cell.eps]
    return [row["value"] for row in sorted(losses, key=lambda row: row["layer"])]


def _held(scoring: Scoring, cell: Cell, split: str, losses: Sequence[float], tolerance: float) -> Iterable[Row]:
    """The relative violations of a split's losses at the training level, and whether the cell is feasible."""
    worst, asked = math.inf, scoring.problem(cell)  # without losses, having diverged, it is not
    if len(losses):
        v = relative_violations(torch.tensor(losses, dtype=torch.float64)[None], asked)[0, asked.cap_layer :]
        worst = v.max().item()
        for layer, value in enumerate(v.tolist(), start=asked.cap_layer):
            yield _row(split, cell, layer, "violation", value)
    yield _row(split, cell, cell.layers, "feasible", worst <= tolerance)


def _numbers(setting: Setting) -> dict[str, float]:
    """The hyperparameters that a search or an ablation may have chosen."""
    if setting.problem is None:
        return {"lr": setting.lr}
    asked = setting.problem
    return {"lr": setting.lr, "dual_lr": setting.dual_lr, "alpha": asked.alpha, "rho": asked.rho}
