"""Stacks side by side in processes: all are trained, a failure is told, and none goes on after it."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.runner.executor import Job, jobs, run_all
from tests.fakes.core import ROOT, environment
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


FORKS = """
import torch
from descent.cells import Cell
from descent.runner import executor
from tests.fakes.core import small_params

def work(stack, tell):
    return float(torch.ones(10**6).sum()), torch.get_num_threads()

torch.set_num_threads(2)  # as on a machine of many cores
executor.use(small_params())
torch.ones(10**6).sum()  # what a stage works out before it has others work
[found] = executor.run_all([executor.Job(STACK, work, threads=2)], torch.device("cpu"), lambda count: None)
print(*found)
""".replace("STACK", "[Cell('video', 'ucsd', 'dust', 'constrained', 3, 0.0, 0)]")


def test_workers_of_many_threads_do_not_wait_for_those_of_the_process_that_forked_them() -> None:
    """On a machine of so many cores that a stack has two or more, testing would never end."""
    ended = subprocess.run(
        [sys.executable, "-c", FORKS], env=environment(), capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert ended.stdout.split() == ["1000000.0", "2"], ended.stderr


def test_nothing_to_train_starts_nothing() -> None:
    assert run_all([], CPU, lambda count: None) == []


def depth(stack: Sequence[Cell], tell: Callable[[int], None]) -> tuple[int, int]:
    """A job's depth and its threads; the shallow take longer, so that jobs do not end in their order."""
    time.sleep(0.5 / stack[0].layers)
    return stack[0].layers, torch.get_num_threads()


def test_jobs_of_several_items_keep_their_threads_and_their_order() -> None:
    asked = [*jobs(STACKS[:2], depth, 1000), Job(STACKS[2], depth, threads=2), *jobs(STACKS[3:], depth, 1000)]
    assert run_all(asked, CPU, lambda count: None) == [(2, 1), (3, 1), (5, 2), (7, 1)]
