"""What a stage trains, from what defines its cells to an output folder that holds them."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from descent.cells import Cell, fingerprint
from descent.io.progress import Bar
from descent.runner import store
from descent.runner.executor import Job, jobs, run_all
from descent.runner.fingerprint import digest
from descent.runner.stacks import TICKS, plan, room, unfinished, work
from descent.training.arm import Setting
from descent.training.stack import Recipe

Rounds = Generator[dict[Cell, Setting], dict[Cell, str], None]  # sent the names of finished cells in the store


def once(settings: dict[Cell, Setting]) -> Rounds:
    """One round with every cell: nothing is searched."""
    yield settings


@dataclass(frozen=True, kw_only=True)
class Feed(Recipe):
    """How the cells of one model on one data set are made and fed, whatever they are trained for."""

    definition: Callable[[Cell], dict[str, Any]]  # what weights depend on beside the cell's identity and setting
    batch: int
    elements: int | None  # numbers in one state of one cell in training; None: cells train one by one
    seeds_apart: bool  # whether batches of different seeds differ in shape

    def elements_at(self, batch: int) -> int | None:
        """`elements` in a batch of another size."""
        return None if self.elements is None else self.elements // self.batch * batch

    @property
    def recipe(self) -> Recipe:
        """What a process that trains a stack needs of it, all of which can be sent there."""
        return Recipe(**{own.name: getattr(self, own.name) for own in fields(Recipe)})


@dataclass(frozen=True)
class Item:
    """The cells of one model on one data set, or of one reading of the model of a study, and everything that their
    weights depend on. Those of several items may lie in one folder."""

    name: str
    runs: Path
    cells: list[Cell]
    settings: dict[Cell, Setting]  # of the cells whose setting params.yaml gives
    feed: Feed
    rounds: Callable[[], Rounds]  # which cells train next and how

    @property
    def searched(self) -> list[Cell]:
        """The cells whose setting a search or another cell chose; their records hold it."""
        return [cell for cell in self.cells if cell not in self.settings]

    def fingerprint(self, cell: Cell, setting: Setting) -> str:
        """The cell's name in the store: all that its weights depend on, and nothing else."""
        primal = self.feed.primal
        # The optimizer's code by itself: the cells of the others are not trained anew where it changes.
        steps = {"primal": primal.model_dump(), "steps": digest((f"descent.training.optimizers.{primal.kind}",))}
        return fingerprint(cell, self.feed.definition(cell) | steps | {"setting": setting.definition()})

    def stacks(
        self, cells: Sequence[Cell], settings: dict[Cell, Setting], elements: int | None
    ) -> list[list[Cell]]:
        """Which of these cells go through the device together, at so many numbers in a state of one cell."""
        return plan(cells, settings, *self._sizes(elements), self.feed.seeds_apart)

    @property
    def most(self) -> int:
        """How many cells train together at most."""
        return room(*self._sizes(self.feed.elements))

    def _sizes(self, elements: int | None) -> tuple[int, int]:
        """Numbers in a state of one cell, of one that goes alone as many as are allowed; and how many are."""
        limit = getattr(self.feed.training.stack_elements, self.feed.device.type)
        return limit if elements is None else elements, limit


def train(label: str, items: Sequence[Item]) -> None:
    """Write the items' output folders: what the store has is taken, the rest is trained first, all side by side.

    Args:
        label: what the bar calls them.
        items: of one device.

    Raises:
        UserError: a stack that does not fit the GPU, or a training process that was killed.
    """
    total = sum(len(item.cells) * item.feed.epochs for item in items) * TICKS
    with ExitStack() as held:
        for name in sorted({item.name for item in items}):  # in one order: two processes never wait for each other
            held.enter_context(store.file_lock(name))
        bar = held.enter_context(Bar(total=total, unit_scale=1 / TICKS, desc=label, unit="cell epoch"))
        names: list[dict[Cell, str]] = [{} for _ in items]
        rounds = [item.rounds() for item in items]
        asked = [next(each, None) for each in rounds]
        while any(asked):
            found = [_named(item, settings or {}) for item, settings in zip(items, asked, strict=True)]
            _train_missing(items, asked, found, bar)
            for known, own in zip(names, found, strict=True):
                known.update(own)
            asked = [next_round(each, own) if own else None for each, own in zip(rounds, found, strict=True)]
        folders: dict[Path, dict[Cell, str]] = {}
        for item, known in zip(items, names, strict=True):
            folders[item.runs] = folders.get(item.runs, {}) | known
        for runs, known in folders.items():
            store.hand_out(known, runs)


def _named(item: Item, settings: dict[Cell, Setting]) -> dict[Cell, str]:
    return {cell: item.fingerprint(cell, setting) for cell, setting in settings.items()}


def next_round(rounds: Rounds, names: dict[Cell, str]) -> dict[Cell, Setting] | None:
    """The round after the one whose cells have these names; None where it was the last."""
    try:
        return rounds.send(names)
    except StopIteration:
        return None


def _train_missing(
    items: Sequence[Item], asked: Sequence[dict[Cell, Setting] | None], found: Sequence[dict[Cell, str]], bar: Bar
) -> None:
    """One round of every item that has one."""
    rounds = [(item, settings) for item, settings in zip(items, asked, strict=True) if settings]
    planned = sum(len(item.stacks(list(settings), settings, item.feed.elements)) for item, settings in rounds)
    claimed: set[str] = set()  # two models may be the same cells under two names
    queue: list[Job] = []
    for item, settings, own in zip(items, asked, found, strict=True):
        names = _once(own)
        missing = [cell for cell, name in names.items() if name not in claimed and not store.has(name)]
        bar.known((len(own) - len(missing)) * item.feed.epochs * TICKS)
        claimed.update(names[cell] for cell in missing)
        if names:
            queue += _jobs(item, settings, names, missing, planned)
    run_all(queue, items[0].feed.device, bar.tell)
    store.await_written(map(store.folder, claimed))


def _once(names: dict[Cell, str]) -> dict[Cell, str]:
    """The first cell of each name: two words of a study may be one setting."""
    first: dict[str, Cell] = {}
    for cell, name in names.items():
        first.setdefault(name, cell)
    return {cell: name for name, cell in first.items()}


def _jobs(
    item: Item, settings: dict[Cell, Setting], names: dict[Cell, str], missing: Sequence[Cell], planned: int
) -> list[Job]:
    """The stacks that train an item's missing cells, those that an earlier run began first."""
    feed = item.feed
    begun = unfinished(names, missing, item.most)
    rest = [cell for cell in missing if not any(cell in stack for stack in begun)]
    stacks = begun + item.stacks(rest, settings, feed.elements)
    return jobs(stacks, partial(work, names, feed.recipe, settings), planned)
