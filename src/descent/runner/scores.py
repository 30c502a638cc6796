"""A stage's trained cells to rows of the results table, whatever their task."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from descent.analysis import results
from descent.cells import WHY, Cell
from descent.io.progress import Bar
from descent.primal_dual.constraints import relative_violations
from descent.primal_dual.problem import Problem
from descent.runner import diagnostics, integrity, store
from descent.runner.executor import Job, Work, jobs, run_all
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.training.arm import Setting

COMPUTES = (  # numbers of a score file
    __name__,
    "descent.runner.diagnostics",
    "descent.analysis.replicates",
    "descent.analysis.bootstrap",
)
Row = dict[str, object]
Measure = Callable[[nn.Module, Sequence[Cell], Callable[[int], Any]], list[list[Row]]]


@dataclass(frozen=True)
class Scoring:
    """How trained cells are scored on test data under one shift.

    Attributes:
        measure: rows of `loss` and more, a list for each cell of the stack; told of the inputs done, times cells.
        problem: the constraints that a cell is held to, whatever its arm; None where no arm in use has any.
        definition: what the scores depend on beside the weights.
        elements: numbers in one state of one cell; None: cells are scored one by one.
        inputs: how many inputs of one cell are measured.
        trained: whether this is the shift of training, and the rows of training and validation come with it.
    """

    profile: str
    shift: str
    measure: Measure
    problem: Callable[[Cell], Problem | None]
    definition: dict[str, Any]
    elements: int | None
    inputs: int
    trained: bool


def evaluate(label: str, asked: Sequence[tuple[Item, Scoring]], beside: Sequence[Job] = ()) -> list[pd.DataFrame]:
    """The rows of each item's cells under its shift, and other tables; what was scored before the store has.

    Args:
        label: what the bar calls them.
        asked: items, of one device, and how they are scored.
        beside: what makes other tables meanwhile; begun first.

    Raises:
        UserError: a cell that is missing or stale.
    """
    if not asked:
        return []
    known = [_known(item, scoring) for item, scoring in asked]
    total = sum(len(own.missing) * scoring.inputs for own, (_, scoring) in zip(known, asked, strict=True))
    planned = len(beside) + sum(len(own.stacks) for own in known)
    work = [jobs(own.stacks, _work(*pair, own), planned) for own, pair in zip(known, asked, strict=True)]
    with Bar(total=total, desc=label, unit="input") as bar:
        found = run_all([*beside, *chain(*work)], asked[0][0].feed.device, bar.update)
    return [*(own.table() for own in known), *found[: len(beside)]]


@dataclass(frozen=True)
class Known:
    """What the store has of an item's scores under one shift."""

    settings: dict[Cell, Setting]
    files: dict[Cell, Path]
    tables: dict[Cell, pd.DataFrame | None]
    stacks: list[list[Cell]]  # of the cells that are to be scored

    @property
    def missing(self) -> list[Cell]:
        """The cells that are to be scored."""
        return [cell for stack in self.stacks for cell in stack]

    def table(self) -> pd.DataFrame:
        """The rows of all cells, once none is missing."""
        # A score file does not say why its cell was trained: studies that share cells share their scores.
        made = {cell: pd.read_parquet(self.files[cell]) for cell in self.missing}
        return pd.concat([table.assign(**vars(cell)) for cell, table in (self.tables | made).items()])


def _known(item: Item, scoring: Scoring) -> Known:
    settings = item.settings | {
        cell: Setting.recorded(store.record(item.runs, cell)["setting"]) for cell in item.searched
    }
    names = {cell: item.fingerprint(cell, settings[cell]) for cell in item.cells}
    for cell in item.cells:
        store.check(item.runs, cell, names[cell])
    files = {cell: _score_file(scoring, cell, names[cell]) for cell in item.cells}
    tables = {cell: integrity.scores(file) for cell, file in files.items()}
    missing = [cell for cell, table in tables.items() if table is None]
    return Known(settings, files, tables, item.stacks(missing, settings, scoring.elements))


def _work(item: Item, scoring: Scoring, known: Known) -> Work:
    feed = item.feed
    return partial(_score_stack, item.runs, feed.build, feed.tolerance, scoring, known.settings, known.files)


def _score_file(scoring: Scoring, cell: Cell, fingerprint: str) -> Path:
    """A cell's rows in the store, by all that they depend on."""
    identity = {key: value for key, value in vars(cell).items() if key not in WHY}
    constraints = scoring.problem(cell)
    held_to = constraints and constraints.model_dump()
    told = [scoring.profile, scoring.shift, held_to, scoring.definition]
    definition = [fingerprint, identity, *told, digest(COMPUTES)]
    name = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:32]
    return store.root() / "scores" / f"{name}.parquet"


def _score_stack(
    runs: Path,
    build: Callable[[Sequence[Cell]], nn.Module],
    tolerance: float,
    scoring: Scoring,
    settings: dict[Cell, Setting],
    files: dict[Cell, Path],
    stack: Sequence[Cell],
    progress: Callable[[int], Any],
) -> None:
    weights = [store.weights(runs, cell) for cell in stack]
    net = build(stack)
    net.load_state_dict({name: torch.stack([own[name] for own in weights]) for name in weights[0]})
    measured = scoring.measure(net.eval(), stack, progress)
    for cell, tested in zip(stack, measured, strict=True):
        record, losses = store.record(runs, cell), store.validation_losses(runs / cell.name)
        # A cell that diverged is lost: what it had before is not what its arm makes of it.
        rows = tested if record["epoch"] and not record["diverged"] else []
        if scoring.trained:
            at_eps = _held(scoring, cell, "test", _losses_at_eps(cell, rows), tolerance)
            rows = [*rows, *at_eps, *_training(scoring, cell, record, losses, settings[cell], tolerance)]
            warmup = getattr(settings[cell].values, "warmup_epochs", 0)
            rows += diagnostics.rows(runs / cell.name, cell, tolerance, warmup)
        table = pd.DataFrame(rows).assign(profile=scoring.profile, shift=scoring.shift, **vars(cell))
        results.write(table, files[cell])


def _training(
    scoring: Scoring, cell: Cell, record: dict, losses: Sequence[float], setting: Setting, tolerance: float
) -> Iterable[Row]:
    """What training and validation say of a cell."""
    for layer, value in enumerate(losses):
        yield _row("validation", cell, layer, "validation_loss", value)
    for row in _held(scoring, cell, "validation", losses, tolerance):
        lost = record["diverged"] and row["metric"] == "feasible"  # whatever it held to before
        yield row | {"value": 0.0} if lost else row
    numbers = {"diverged": record["diverged"], "epoch": record["epoch"], "lr": setting.lr}
    chosen = setting.values.model_dump(include=set(results.METRICS))  # what a search or a study may have chosen
    for name, value in (numbers | chosen).items():
        yield _row("validation", cell, cell.layers, name, value)


def _row(split: str, cell: Cell, layer: int, metric: str, value: float | int) -> Row:
    return {"split": split, "gamma": cell.eps, "layer": layer, "metric": metric, "value": float(value)}


def _losses_at_eps(cell: Cell, tested: Iterable[Row]) -> list[float]:
    losses = [row for row in tested if row["metric"] == "loss" and row["gamma"] == cell.eps]
    return [row["value"] for row in sorted(losses, key=lambda row: row["layer"])]


def _held(scoring: Scoring, cell: Cell, split: str, losses: Sequence[float], tolerance: float) -> Iterable[Row]:
    """The relative violations of a split's losses at the training level, and whether the cell is feasible."""
    worst, constraints = math.inf, scoring.problem(cell)  # without losses, having diverged, it is not
    if constraints is None:
        return
    if len(losses):
        v = relative_violations(torch.tensor(losses, dtype=torch.float64)[None], constraints)[
            0, constraints.cap_layer :
        ]
        worst = v.max().item()
        for layer, value in enumerate(v.tolist(), start=constraints.cap_layer):
            yield _row(split, cell, layer, "violation", value)
    yield _row(split, cell, cell.layers, "feasible", worst <= tolerance)
