"""A stage's trained cells to rows of the results table, whatever their task."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from descent.analysis import results
from descent.analysis.results import Row
from descent.analysis.select import TRAINED
from descent.cells import WHY, Cell
from descent.errors import UserError
from descent.io.progress import Bar
from descent.primal_dual.problem import Problem
from descent.runner import diagnostics, held, integrity, store
from descent.runner.executor import Job, Work, jobs, run_all
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.stored import Stored
from descent.training.arm import Setting

COMPUTES = (  # numbers of a score file
    __name__,
    "descent.runner.diagnostics",
    "descent.runner.held",
    "descent.runner.stored",
    "descent.analysis.select",
    "descent.analysis.replicates",
    "descent.analysis.bootstrap",
    "descent.analysis.tails",
)
# Shift by shift, the rows of each cell of a stack; None of one that is not tested.
Measured = Iterable[tuple[str, Sequence[list[Row] | None]]]
Measure = Callable[[nn.Module, Sequence[Cell], Sequence[str], Callable[[int], Any]], Measured]


@dataclass(frozen=True)
class Scoring:
    """How trained cells are scored on test data, under one shift or several.

    Attributes:
        measure: rows of `loss` and more under each of the shifts that it is handed, those of one kept before the
            next is measured, where it does them one by one; told of the inputs done, times cells.
        problem: the constraints that a cell is held to, whatever its arm; None where no arm in use has any.
        definitions: by shift, what the scores depend on beside the weights. With the scores under the shift of
            training come the rows of training and validation.
        elements: numbers in one state of one cell; None: cells are scored one by one.
        inputs: how many inputs of one cell are measured under a shift.
    """

    profile: str
    measure: Measure
    problem: Callable[[Cell], Problem | None]
    definitions: dict[str, dict[str, Any]]
    elements: int | None
    inputs: int


def untested(scoring: Scoring) -> Scoring:
    """The same without a look at test data: the rows of training and validation alone."""
    definitions = {shift: told | {"tested": False} for shift, told in scoring.definitions.items()}
    return replace(scoring, measure=_unmeasured, definitions=definitions, inputs=0)


def _unmeasured(net: nn.Module, stack: Sequence[Cell], shifts: Sequence[str], _: Callable[[int], Any]) -> Measured:
    return ((shift, [None] * len(stack)) for shift in shifts)


def evaluate(label: str, asked: Sequence[tuple[Item, Scoring]], beside: Sequence[Job] = ()) -> list[pd.DataFrame]:
    """The rows of each item's cells under its shifts, and other tables; what was scored before the store has.

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
    planned = len(beside) + sum(own.planned for own in known)
    work = [job for own, pair in zip(known, asked, strict=True) for job in _jobs(*pair, own, planned)]
    with Bar(total=total, desc=label, unit="input") as bar:
        found = run_all([*beside, *work], asked[0][0].feed.device, bar.update)
    store.await_written(own.files[place] for own in known for place in own.missing)
    return [*(own.table() for own in known), *found[: len(beside)]]


Place = tuple[str, Cell]  # a shift, and a cell under it


@dataclass(frozen=True)
class Known:
    """What the store has of an item's scores."""

    settings: dict[Cell, Setting]
    files: dict[Place, Path]
    tables: dict[Place, pd.DataFrame | None]
    stacks: list[tuple[tuple[str, ...], list[Cell]]]  # what is to be scored, and under which shifts
    planned: int  # stacks there would be had nothing been scored before

    @property
    def missing(self) -> list[Place]:
        """What is to be scored."""
        return [(shift, cell) for shifts, stack in self.stacks for shift in shifts for cell in stack]

    def table(self) -> pd.DataFrame:
        """The rows of all cells, once none is missing."""
        # A score file does not say why its cell was trained: studies that share cells share their scores.
        made = {place: pd.read_parquet(self.files[place]) for place in self.missing}
        return pd.concat([table.assign(**vars(cell)) for (_, cell), table in (self.tables | made).items()])


def _known(item: Item, scoring: Scoring) -> Known:
    settings = item.settings | {
        cell: Setting.recorded(store.record(item.runs, cell)["setting"]) for cell in item.searched
    }
    names = {cell: item.fingerprint(cell, settings[cell]) for cell in item.cells}
    for cell in item.cells:
        store.check(item.runs, cell, names[cell])
    first = _first(item)
    files = {
        (shift, cell): _score_file(scoring, shift, cell, names[cell], cell.seed == first)
        for shift in scoring.definitions
        for cell in item.cells
    }
    tables = {place: integrity.scores(file, results.COLUMNS) for place, file in files.items()}
    gone: dict[tuple[str, ...], list[Cell]] = {}  # cells that lack the same shifts go together
    for cell in item.cells:
        if lacks := tuple(shift for shift in scoring.definitions if tables[shift, cell] is None):
            gone.setdefault(lacks, []).append(cell)
    stacks = [
        (shifts, stack)
        for shifts, cells in gone.items()
        for stack in item.stacks(cells, settings, scoring.elements)
    ]
    planned = len(item.stacks(item.cells, settings, scoring.elements))
    return Known(settings, files, tables, stacks, planned)


def _jobs(item: Item, scoring: Scoring, known: Known, planned: int) -> Iterable[Job]:
    for shifts, stack in known.stacks:
        yield from jobs([stack], _work(item, scoring, known, shifts, stack), planned)


def _work(item: Item, scoring: Scoring, known: Known, shifts: Sequence[str], stack: Sequence[Cell]) -> Work:
    feed = item.feed
    settings = {cell: known.settings[cell] for cell in stack}
    files = {(shift, cell): known.files[shift, cell] for shift in shifts for cell in stack}
    beside_training = partial(_with_training, item.runs, scoring, feed.tolerance, settings, _first(item))
    return partial(_score_stack, item.runs, feed.build, scoring, beside_training, files, shifts)


def _first(item: Item) -> int:
    """The seed whose cells keep their epochs, for figures."""
    return min(cell.seed for cell in item.cells)


def _score_file(scoring: Scoring, shift: str, cell: Cell, fingerprint: str, by_epoch: bool) -> Path:
    """A cell's rows in the store, by all that they depend on."""
    identity = {key: value for key, value in vars(cell).items() if key not in WHY}
    constraints = scoring.problem(cell)
    held_to = constraints and constraints.model_dump()
    told = [scoring.profile, shift, held_to, scoring.definitions[shift], by_epoch and shift == TRAINED]
    definition = [fingerprint, identity, *told, digest(COMPUTES)]
    name = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:32]
    return store.root() / "scores" / f"{name}.parquet"


def loaded(build: Callable[[Sequence[Cell]], nn.Module], runs: Path, cells: Sequence[Cell]) -> nn.Module:
    """The model of a stack of finished cells with their reported weights.

    Raises:
        UserError: as `build`.
    """
    weights = [Stored(runs / cell.name).weights for cell in cells]
    net = build(cells)
    net.load_state_dict({name: torch.stack([own[name] for own in weights]) for name in weights[0]})
    return net


def _score_stack(
    runs: Path,
    build: Callable[[Sequence[Cell]], nn.Module],
    scoring: Scoring,
    beside_training: Callable[[str, Cell, list[Row] | None], list[Row]],
    files: dict[Place, Path],
    shifts: Sequence[str],
    stack: Sequence[Cell],
    progress: Callable[[int], Any],
) -> None:
    net = loaded(build, runs, stack)
    try:
        for shift, measured in scoring.measure(net.eval(), stack, shifts, progress):
            for cell, tested in zip(stack, measured, strict=True):
                rows = beside_training(shift, cell, tested)
                table = pd.DataFrame(rows).assign(profile=scoring.profile, shift=shift, **vars(cell))
                results.write(table, files[shift, cell])
    except torch.OutOfMemoryError as error:
        raise UserError(
            f"the GPU is out of memory testing {len(stack)} cells of {stack[0].dataset}-{stack[0].model}: end "
            "other programs on it, raise gpu_share, or lower evaluation.batch in the section of their task "
            "(nothing is trained anew, but all of it tested again, with other noise), and run the same command "
            "again. "
            f"({str(error).partition(chr(10))[0]})"
        ) from None


def _with_training(
    runs: Path,
    scoring: Scoring,
    tolerance: float,
    settings: dict[Cell, Setting],
    first: int,
    shift: str,
    cell: Cell,
    tested: list[Row] | None,
) -> list[Row]:
    """A cell's rows under a shift; under that of training with what training and validation say of it."""
    record = store.record(runs, cell)
    # A cell that diverged is lost: what it had before is not what its arm makes of it.
    rows = tested if tested and record["epoch"] and not record["diverged"] else []
    if shift != TRAINED:
        return rows
    problem = scoring.problem(cell)
    own = [] if tested is None else held.rows("test", cell, held.losses_at_eps(cell, rows), problem, tolerance)
    stored = Stored(runs / cell.name)
    losses = stored.validation_losses
    setting = settings[cell]
    of_training = held.of_training(cell, record, losses, setting, problem, tolerance)
    noted = diagnostics.rows(stored, cell, tolerance, setting.values, by_epoch=cell.seed == first)
    return [*rows, *own, *of_training, *noted]
