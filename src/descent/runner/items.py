"""A matrix item from what defines it to an output folder of trained cells."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from descent.cells import Cell, fingerprint
from descent.runner import store
from descent.runner.executor import run_all
from descent.schema import ADAM, Optimizer, Training
from descent.training.loop import Task
from descent.training.settings import Setting
from descent.training.stacks import Recipe, plan, train_stack, unfinished

Rounds = Generator[dict[Cell, Setting], dict[Cell, float], None]


@dataclass(frozen=True)
class Item:
    """All cells that one stage trains, and everything that their weights depend on."""

    name: str
    runs: Path
    cells: list[Cell]
    settings: dict[Cell, Setting]  # of the cells whose setting params.yaml gives
    rounds: Callable[[], Rounds]  # which cells train next and how; sent their validation losses
    definition: dict[str, Any]  # what all cells' weights depend on beside their identity and setting
    build: Callable[[Sequence[Cell]], nn.Module]
    task: Callable[[Sequence[Cell]], Task]
    epochs: int
    report: str
    tolerance: float
    training: Training
    device: torch.device
    elements: int | None  # numbers in one state of one cell in training; None: cells train one by one
    seeds_apart: bool  # whether batches of different seeds differ in shape
    primal: Optimizer = ADAM

    @property
    def searched(self) -> list[Cell]:
        """The cells whose setting a search chose; their records tell it."""
        return [cell for cell in self.cells if cell not in self.settings]

    def fingerprint(self, cell: Cell, setting: Setting) -> str:
        """The cell's name in the store: all that its weights depend on, and nothing else."""
        primal = {"primal": self.primal.model_dump()}
        return fingerprint(cell, self.definition | primal | setting.definition())

    def stacks(
        self, cells: Sequence[Cell], settings: dict[Cell, Setting], elements: int | None
    ) -> list[list[Cell]]:
        """Which of these cells go through the device together, at so many numbers in a state of one cell."""
        limit = getattr(self.training.stack_elements, self.device.type)
        each = limit if elements is None else elements
        return plan(cells, settings, each, limit, self.seeds_apart)


def once(settings: dict[Cell, Setting]) -> Rounds:
    """One round with every cell: nothing is searched."""
    yield settings


def train(item: Item) -> None:
    """Write the item's output folder: what the store has is taken, the rest is trained first.

    Raises:
        UserError: a stack that does not fit the GPU, or a training process that was killed.
    """
    total = len(item.cells) * item.epochs
    with store.alone(item.name), tqdm(total=total, desc=item.name, unit="cell epoch") as bar:
        names: dict[Cell, str] = {}
        rounds = item.rounds()
        settings = next(rounds, None)
        while settings:
            found = {cell: item.fingerprint(cell, setting) for cell, setting in settings.items()}
            _train_missing(item, settings, found, bar)
            names |= found
            losses = {cell: store.validation_loss(name) for cell, name in found.items()}
            settings = _next(rounds, losses)
        store.hand_out(names, item.runs)


def _next(rounds: Rounds, losses: dict[Cell, float]) -> dict[Cell, Setting] | None:
    try:
        return rounds.send(losses)
    except StopIteration:
        return None


def _train_missing(item: Item, settings: dict[Cell, Setting], names: dict[Cell, str], bar: tqdm) -> None:
    missing = [cell for cell in settings if not store.has(names[cell])]
    bar.update((len(settings) - len(missing)) * item.epochs)
    begun = unfinished(names, missing)
    rest = [cell for cell in missing if not any(cell in stack for stack in begun)]
    stacks = begun + item.stacks(rest, settings, item.elements)
    planned = len(item.stacks(list(settings), settings, item.elements))
    recipe = Recipe(
        build=item.build,
        task=item.task,
        settings=settings,
        epochs=item.epochs,
        report=item.report,
        tolerance=item.tolerance,
        training=item.training,
        device=item.device,
        primal=item.primal,
    )
    run_all(stacks, partial(train_stack, names, recipe), item.device, planned, bar.update)
