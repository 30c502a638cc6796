"""Stacks side by side in processes: all are trained, a failure is told, and none goes on after it."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.runner.executor import Job, jobs, run_all
from tests.fakes.stacks import CPU, STACKS

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def work(folder: Path, failing: int, epochs: int, stack: Sequence[Cell], tell: Callable[[int], None]) -> None:
    """Leave a file for each finished stack; the stack of depth `failing` cannot be trained."""
    for _ in range(epochs):
        if stack[0].layers == failing:
            raise UserError("this stack does not fit")
        tell(3)
        time.sleep(0.01)
    (folder / str(stack[0].layers)).write_text(str(torch.get_num_threads()))


def test_every_stack_is_trained_and_its_progress_told(tmp_path: Path) -> None:
    told: list[int] = []
    run_all(jobs(STACKS, partial(work, tmp_path, 0, 5), 4), CPU, told.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3", "5", "7"]
    assert sum(told) == 4 * 5 * 3


def test_threads_depend_on_the_whole_item_and_not_on_what_is_left(tmp_path: Path) -> None:
    run_all(jobs(STACKS[:1], partial(work, tmp_path, 0, 1), 1000), CPU, lambda count: None)
    assert (tmp_path / "2").read_text() == "1"


def test_a_failure_is_told_and_ends_the_others(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(UserError, match="this stack does not fit"):
        run_all(jobs(STACKS, partial(work, tmp_path, 2, 3000), 4), CPU, lambda count: None)
    assert time.monotonic() - began < 15, "the others would take 30 s each"
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_train_starts_nothing() -> None:
    assert run_all([], CPU, lambda count: None) == []


def depth(stack: Sequence[Cell], tell: Callable[[int], None]) -> tuple[int, int]:
    """A job's depth and its threads; the shallow take longer, so that jobs do not end in their order."""
    time.sleep(0.5 / stack[0].layers)
    return stack[0].layers, torch.get_num_threads()


def test_jobs_of_several_items_keep_their_threads_and_their_order() -> None:
    asked = [*jobs(STACKS[:2], depth, 1000), Job(STACKS[2], depth, threads=2), *jobs(STACKS[3:], depth, 1000)]
    assert run_all(asked, CPU, lambda count: None) == [(2, 1), (3, 1), (5, 2), (7, 1)]
