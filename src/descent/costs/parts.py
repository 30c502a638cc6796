"""What the parts of a profile cost: training and scoring of a model on a data set, or of a study."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from descent import paths
from descent.cells import Cell, grid
from descent.components import TASKS, check, of_task
from descent.config import Params
from descent.costs import extrapolated, shapes
from descent.costs.data import prepared, resident, standin
from descent.costs.devices import AtHand, side_by_side
from descent.costs.left import Left
from descent.costs.steps import Step, kind, timed, typical
from descent.costs.testable import inputs
from descent.errors import UserError
from descent.runner.items import Feed, Item
from descent.runner.shares import threads
from descent.tasks.common.items import readings, setting
from descent.training.arm import Setting
from descent.training.devices import free_memory
from descent.training.loop import Task

COPIES = 3  # of what trains: weights, gradients, the weights to report
KEPT = 2  # times that a finished cell lies on the disk: DVC's cache is no copy where the file system has links
Asked = tuple[str, Params, Sequence[Cell]]  # a part's name, parameters and cells


@dataclass(frozen=True)
class Part:
    """What is left to do of one part; seconds with a stack on every core or GPU, one after another on each."""

    name: str
    cells: int
    missing: int
    steps: int  # of one cell
    training: float | int
    scoring: float | int
    memory: float | int  # bytes, of all that train at the same time
    disk: float | int  # bytes
    slots: int  # stacks side by side
    grown: bool  # whether its steps were timed small and grown


@dataclass(frozen=True)
class _Opened:
    """A part that can be tested, its data open."""

    params: Params
    shape: dict[str, int] | None  # of pretrained weights
    item: Item
    missing: list[Cell]
    inputs: int  # that a missing cell is tested on
    resident: int  # bytes of training data that a stack keeps on a GPU


@dataclass(frozen=True)
class _Trained:
    """What the training of one stack takes."""

    step: Step
    seconds: float | int
    memory: float | int  # bytes: weights, what a step keeps, and held-out data


class Costs:
    """The parts of a profile on what is at hand; what was timed once is not timed again."""

    def __init__(self, params: Params, here: AtHand) -> None:
        # Where this CPU stands in for a GPU that is not there, prepared data are fed to the CPU too.
        self.params = params.model_copy(update={"device": str(here.device)})
        self.device, self.places, self.factor = here.device, here.places, here.factor
        absent = here.device.type == "cpu" and params.device.startswith("cuda")
        self.free = None if absent else free_memory(here.device)  # of a GPU; None: nobody knows
        self.known: dict[tuple, Step] = {}
        self.left = Left(self.params)

    def parts(self) -> Iterator[Part]:
        """Every model on every data set in use, then the studies.

        Raises:
            UserError: a size or a shape is not known.
        """
        for task in TASKS:
            section = self.params.section(task)
            for dataset in section.datasets:
                yield from self.of(task, dataset, *section.models)
        yield from self.of(*self.params.studies)

    def of(self, *words: str) -> Iterator[Part]:
        """Models on one data set, or studies whose data set and model are in use.

        Args:
            words: a task, a data set and models, or names of studies.

        Raises:
            UserError: as `parts`.
        """
        yield from self._each(self._asked(*words))

    def untimed(self, *words: str) -> tuple[int, int]:
        """How many cells of the same are left to train, and how many there are; no step is taken.

        Raises:
            UserError: as `parts`.
        """
        with ExitStack() as held:
            opened = [self._opened(held, *one) for one in self._asked(*words)]
        return sum(len(part.missing) for part in opened), sum(len(part.item.cells) for part in opened)

    def _asked(self, *words: str) -> Iterator[Asked]:
        if not words or words[0] not in TASKS:
            return self._studies(words)
        if len(words) == 1:
            raise UserError(f"{words[0]}: of which data set, and which models?")
        return self._models(words[0], words[1], words[2:])

    def _models(self, task: str, dataset: str, models: Sequence[str]) -> Iterator[Asked]:
        check(f"tasks.{task}.datasets", dataset, f"{task} data set")
        for model in models:
            check("models", model, f"{task} model")
            yield f"{task} {dataset} {model}", self.params, grid(self.params, task, dataset, model)

    def _studies(self, names: Sequence[str]) -> Iterator[Asked]:
        read = [(name, *each) for name in names for each in readings(self.params, name)]
        several = Counter(name for name, *_ in read)
        for name, own, cells in read:
            yield f"study {name}" + (f" {cells[0].varied}" if several[name] > 1 else ""), own, cells

    def _each(self, asked: Iterable[Asked]) -> Iterator[Part]:
        """What could not be tested is told of all before the first is timed: who asks may not wait for so long."""
        with ExitStack() as held:
            for opened in [self._opened(held, *one) for one in asked]:
                yield self._timed(opened)

    def _opened(self, held: ExitStack, name: str, params: Params, cells: Sequence[Cell]) -> _Opened:
        """A part with its data, or a stand-in that is there while it is held."""
        first = cells[0]
        task = params.task_of(first.model)
        shape = shapes.pretrained(params, first.model)
        if shape is not None:  # weights that may not be here
            made_up = shapes.random_weights(first.model, shape, 1)
            params = params.with_budget(first.model, made_up)
        settings = {cell: setting(params, cell, params.replaced(cell)) for cell in cells}
        data = prepared(params, task, first.dataset, first.model)
        there = data is not None
        if data is None:
            folder = held.enter_context(tempfile.TemporaryDirectory())
            data = standin(params, first.dataset, first.model, Path(folder))
        feed = of_task(task, "feed").feed(params, data, first.model, self.device)
        item = Item(name, Path(), [*cells], settings, feed, lambda: iter(()))
        place = paths.prepared_folder(params, task, first.dataset, first.model)
        missing = self.left.of_prepared(first, cells) if there else self.left.of_standin(item, place)
        tested = inputs(params, task, data, item) if missing else 0
        kept = resident(params, first.dataset, first.model, data if there else None, self.free)
        return _Opened(params, shape, item, missing, tested, kept)

    def _timed(self, part: _Opened) -> Part:
        params = part.params
        item = part.item
        feed = part.item.feed
        first = part.item.cells[0]
        planned = len(item.stacks(item.cells, item.settings, feed.elements))
        torch.set_num_threads(_threads(planned, self.device, self.places))
        alike: dict[tuple, list[list[Cell]]] = {}
        for stack in item.stacks(part.missing, item.settings, feed.elements):
            alike.setdefault((stack[0].arm, stack[0].layers, len(stack)), []).append(stack)
        found = []
        for stacks in alike.values():
            found += len(stacks) * [self._stack(params, feed, part.shape, stacks[0], item.settings)]
        slots = side_by_side(params, self.device, self.places, first.model)
        passes = part.inputs * params.section(params.task_of(first.model)).evaluation.noise_draws / feed.batch
        scoring = [passes * one.step.forward for one in found]
        memory = sorted((one.memory + part.resident for one in found), reverse=True)
        return Part(
            name=item.name,
            cells=len(item.cells),
            missing=len(part.missing),
            steps=feed.passes * feed.task([first]).steps,
            training=self.factor * _together([one.seconds for one in found], self.places),
            scoring=self.factor * _together(scoring, self.places),
            memory=sum(memory[:slots]),
            disk=KEPT * sum(one.step.weights for one in found),
            slots=slots,
            grown=part.shape is not None,
        )

    def _stack(
        self,
        params: Params,
        feed: Feed,
        shape: dict[str, int] | None,
        stack: Sequence[Cell],
        settings: dict[Cell, Setting],
    ) -> _Trained:
        """A stack's whole training, from one step."""
        task = feed.task(stack)
        batch = task.batch(0, typical(feed, task))[0]
        key = (kind(params, stack[0], settings[stack[0]]), len(stack), tuple(batch.shape))
        if key not in self.known:
            self.known[key] = (
                timed(feed, stack, [settings[cell] for cell in stack])
                if shape is None
                else extrapolated.step(params, shape, stack[0], self.device) * len(stack)
            )
        step = self.known[key]
        held_out = sum(own[0].numel() for own, _ in task.validation()) / batch.numel()
        seconds = feed.passes * task.steps * step.seconds + feed.epochs * held_out * step.forward
        return _Trained(
            step, seconds, COPIES * step.weights + step.moments + step.frozen + step.held + _held_out(task)
        )


def _threads(planned: int, device: torch.device, places: int) -> int:
    """As many as the executor gives a stack; one where one place of this CPU stands in for an absent GPU."""
    return min(threads(planned), places) if device.type == "cpu" else threads(planned)


def _held_out(task: Task) -> int:
    """Bytes of a task's validation batches, which it keeps on the device, each storage once."""
    kept = [leaf.untyped_storage() for leaf in tree_leaves([*task.validation()]) if isinstance(leaf, Tensor)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in kept}.values())


def _together(seconds: Sequence[float | int], places: int) -> float | int:
    """How long stacks take in so many places, the longest first.

    In a place that stacks share they count as one after another, which for replayed steps is what they take.
    """
    busy = [0.0] * places
    for own in sorted(seconds, reverse=True):
        busy[busy.index(min(busy))] += own
    return max(busy)
