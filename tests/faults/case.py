"""A case of bad input: its name in words, how it is made and met, and what must come of it."""

import io
import re
import signal
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from descent.errors import sentence

LONGEST = 2500  # characters of a message
LEFT = re.compile(r"\.partial|\.[0-9a-f]{14}$|\.part$")  # what a write that failed must not leave behind


@dataclass(frozen=True)
class Case:
    """One case of a kind.

    Attributes:
        act: makes the bad input in the empty folder that it is called in, and does what a stage does with it;
            where neither `refused` nor `told` is given it checks by itself that the input was handled.
        refused: a pattern of the one message by which it must end.
        told: a pattern of what must be printed of input that is taken.
        alone: it may hang, fill the memory or end the process: only in a process of its own, with limits.
        left: it may leave parts of files, from which the next run goes on.
    """

    kind: str
    name: str
    act: Callable[[], object]
    refused: str | None = None
    told: str | None = None
    alone: bool = False
    left: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class Late(BaseException):
    """A case took longer than it may. No Exception: those of libraries are turned into sentences."""


def met(case: Case) -> str:
    """What came of a case in the folder worked in, in words; empty where it is what must come."""
    output = io.StringIO()
    try:
        with redirect_stderr(output), redirect_stdout(output):
            case.act()
    except AssertionError as error:
        found = f"wrong: {error}"
    except Late as error:
        found = f"hang: {error}"
    except Exception as error:
        told = sentence(error)
        found = _of_message(case, told) if told else f"traceback: {type(error).__name__}: {str(error)[:300]}"
    else:
        found = _of_silence(case, output.getvalue())
    if "Traceback (most recent" in output.getvalue():
        found = found or f"traceback: printed: {output.getvalue()[-600:]}"
    left = [] if case.left else [str(path) for path in Path().rglob("*") if LEFT.search(path.name)]
    return found or (f"left behind: {', '.join(left)}" if left else "")


def _of_message(case: Case, message: str) -> str:
    if case.refused is None:
        return f"refused: {message[:300]}"
    if not re.search(case.refused, message):
        return f"another message: {message[:300]}"
    return f"a message of {len(message)} characters" if len(message) > LONGEST else ""


def _of_silence(case: Case, output: str) -> str:
    if case.refused is not None:
        return "taken in silence"
    if case.told is not None and not re.search(case.told, output):
        return f"not told: {output[-200:]!r}"
    return ""


def hastened(case: Case, seconds: int) -> str:
    """What came of a case in so many seconds."""

    def late(*_: object) -> None:
        raise Late(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        return met(case)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
