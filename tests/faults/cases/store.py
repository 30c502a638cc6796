"""Damage to the store, and workers that fail: set aside, told, and made again with the same bytes."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.runner import store
from descent.runner.checkpoints import FileCheckpoint
from descent.runner.executor import jobs, run_all
from tests.fakes.core import evaluate_cells, make_project, small_params, train_cells
from tests.fakes.damage import BUDGET, DAMAGE, WORDS, cut, flip, weights_of
from tests.faults.case import Case

PARAMS = BUDGET | {"profiles.demo.video": BUDGET["profiles.demo.video"] | {"epochs": 2}}
CPU = torch.device("cpu")


def project() -> None:
    """A project in the folder worked in."""
    os.environ.pop("DVC_ROOT", None)
    torch.set_num_threads(1)
    os.chdir(make_project(Path("project")))


def once_more(damage: Callable[[Path], object]) -> Callable[[], object]:
    """Train, damage the store, train again: one line, and the same bytes."""

    def act() -> None:
        project()
        params = small_params(PARAMS)
        item = train_cells(params, *WORDS)
        before = weights_of(item.runs)
        damage(store.folder(store.record(item.runs, item.cells[0])["fingerprint"]))
        told = StringIO()
        with redirect_stderr(told):
            train_cells(params, *WORDS)
        assert told.getvalue().count("set aside") == 1, "not told in one line"
        assert weights_of(item.runs) == before, "other bytes"

    return act


def scores_again(damage: Callable[[Path], object]) -> Callable[[], object]:
    def act() -> None:
        project()
        params = small_params(PARAMS)
        train_cells(params, *WORDS)
        before = evaluate_cells(params, "video", "ucsd")
        damage(sorted((store.root() / "scores").glob("*.parquet"))[0])
        pd.testing.assert_frame_equal(evaluate_cells(params, "video", "ucsd"), before)

    return act


def with_stack(text: str) -> None:
    project()
    (store.root() / "stacks").mkdir(parents=True)
    (store.root() / "stacks" / "torn.json").write_text(text)
    train_cells(small_params(PARAMS), *WORDS)


def checkpoint(content: bytes) -> None:
    Path("it.pt").write_bytes(content)
    FileCheckpoint(Path("it.pt")).restore({"model": torch.nn.Linear(1, 1)}, object(), CPU)
    assert not Path("it.pt").exists(), "not set aside"


def in_the_stores_place(make: Callable[[], object]) -> Callable[[], object]:
    def act() -> None:
        project()
        make()
        train_cells(small_params(PARAMS), *WORDS)

    return act


class Unreadable(Exception):
    """Pickled, and not to be read again: it asks for two words and keeps one."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


class Unpicklable(Exception):
    """It holds what cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("the true cause")
        self.held = lambda: None


def fail(kind: str, stack: Sequence[Cell], progress: Callable[[int], Any]) -> None:
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise {
        "unreadable": Unreadable("the true cause", "x"),
        "unpicklable": Unpicklable(),
        "plain": ValueError("the true cause"),
        "told": UserError("the true cause"),
    }[kind]


def worker(kind: str) -> Callable[[], object]:
    """A worker that fails so; the cause must reach the parent."""

    def act() -> None:
        stack = [Cell("video", "ucsd", "dust", "constrained", 2, 0.0, 0)]
        try:
            run_all(jobs([stack, stack], partial(fail, kind), 2), CPU, lambda done: None)
        except Exception as error:
            raise UserError(str(error)) from None

    return act


CASES = [
    *(
        Case("store", name, once_more(lambda place, file=file, damage=damage: damage(place / file)), alone=True)
        for name, (file, damage) in DAMAGE.items()
    ),
    *(
        Case("store", f"scores {name}", scores_again(damage), alone=True)
        for name, damage in {
            "cut in half": cut,
            "with one flipped bit": flip,
            "that are empty": lambda path: path.write_bytes(b""),
            "of garbage": lambda path: path.write_bytes(b"garbage" * 99),
        }.items()
    ),
    *(
        Case("store", f"a stack's file of {text!r}", partial(with_stack, text), alone=True)
        for text in ("", "null", "{", '"word"', "[1]", "{}")
    ),
    *(
        Case("store", f"a checkpoint {name}", partial(checkpoint, content))
        for name, content in {
            "that is empty": b"",
            "of garbage": b"garbage",
            "that is a zip": b"PK\x03\x04" * 9,
        }.items()
    ),
    *(
        Case("store", f".cells {name}", in_the_stores_place(make), r"\.cells should be a folder", alone=True)
        for name, make in {
            "a file": lambda: Path(".cells").write_text(""),
            "a dangling link": lambda: Path(".cells").symlink_to("nowhere"),
        }.items()
    ),
    Case(
        "worker",
        "an error that cannot be read again",
        worker("unreadable"),
        "Unreadable: the true cause",
        alone=True,
    ),
    Case(
        "worker",
        "an error that cannot be pickled",
        worker("unpicklable"),
        "Unpicklable: the true cause",
        alone=True,
    ),
    Case("worker", "an error of Python's", worker("plain"), "^the true cause", alone=True),
    Case("worker", "an error to be told", worker("told"), "^the true cause", alone=True),
    Case("worker", "killed", worker("killed"), "a process was killed, most likely for lack of memory", alone=True),
]
