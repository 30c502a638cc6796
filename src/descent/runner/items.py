"""What a stage trains, from what defines its cells to an output folder that holds them."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from descent.cells import Cell, fingerprint
from descent.io.progress import Bar
from descent.runner import store
from descent.runner.executor import run_all
from descent.runner.stacks import PARTS, plan, unfinished, work
from descent.training.arm import Setting
from descent.training.loop import Task
from descent.training.schema import ADAM, Optimizer, Training
from descent.training.stack import Recipe

Rounds = Generator[dict[Cell, Setting], dict[Cell, str], None]  # sent the names of finished cells in the store


def once(settings: dict[Cell, Setting]) -> Rounds:
    """One round with every cell: nothing is searched."""
    yield settings


@dataclass(frozen=True)
class Feed:
    """How the cells of one model on one data set are made and fed, whatever they are trained for."""

    build: Callable[[Sequence[Cell]], nn.Module]
    task: Callable[[Sequence[Cell]], Task]
    definition: Callable[[Cell], dict[str, Any]]  # what weights depend on beside the cell's identity and setting
    batch: int
    epochs: int
    selection: str
    tolerance: float
    training: Training
    device: torch.device
    elements: int | None  # numbers in one state of one cell in training; None: cells train one by one
    seeds_apart: bool  # whether batches of different seeds differ in shape
    primal: Optimizer = ADAM


@dataclass(frozen=True)
class Item:
    """All cells that one stage trains, and everything that their weights depend on."""

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
        primal = {"primal": self.feed.primal.model_dump()}
        return fingerprint(cell, self.feed.definition(cell) | primal | {"setting": setting.definition()})

    def stacks(
        self, cells: Sequence[Cell], settings: dict[Cell, Setting], elements: int | None
    ) -> list[list[Cell]]:
        """Which of these cells go through the device together, at so many numbers in a state of one cell."""
        limit = getattr(self.feed.training.stack_elements, self.feed.device.type)
        each = limit if elements is None else elements
        return plan(cells, settings, each, limit, self.feed.seeds_apart)


def train(item: Item) -> None:
    """Write the item's output folder: what the store has is taken, the rest is trained first.

    Raises:
        UserError: a stack that does not fit the GPU, or a training process that was killed.
    """
    told = {"total": len(item.cells) * item.feed.epochs * PARTS, "unit_scale": 1 / PARTS}
    with store.file_lock(item.name), Bar(**told, desc=item.name, unit="cell epoch") as bar:
        names: dict[Cell, str] = {}
        rounds = item.rounds()
        settings = next(rounds, None)
        while settings:
            found = {cell: item.fingerprint(cell, setting) for cell, setting in settings.items()}
            _train_missing(item, settings, found, bar)
            names |= found
            settings = _next(rounds, found)
        store.hand_out(names, item.runs)


def _next(rounds: Rounds, names: dict[Cell, str]) -> dict[Cell, Setting] | None:
    try:
        return rounds.send(names)
    except StopIteration:
        return None


def _train_missing(item: Item, settings: dict[Cell, Setting], names: dict[Cell, str], bar: Bar) -> None:
    feed = item.feed
    missing = [cell for cell in settings if not store.has(names[cell])]
    bar.update((len(settings) - len(missing)) * feed.epochs * PARTS)
    begun = unfinished(names, missing)
    rest = [cell for cell in missing if not any(cell in stack for stack in begun)]
    stacks = begun + item.stacks(rest, settings, feed.elements)
    planned = len(item.stacks(list(settings), settings, feed.elements))
    recipe = Recipe(
        build=feed.build,
        task=feed.task,
        epochs=feed.epochs,
        selection=feed.selection,
        tolerance=feed.tolerance,
        training=feed.training,
        device=feed.device,
        primal=feed.primal,
    )
    run_all(stacks, partial(work, names, recipe, settings), feed.device, planned, bar.update)
