"""Calls in a process of their own: answers come back, signals are heard meanwhile, nobody is left behind."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from descent.errors import UserError
from descent.io import processes
from descent.io.processes import apart
from tests.fakes.core import ROOT, environment

# A call that keeps Python's lock, as vl_convert's: no thread and no handler of its process runs meanwhile.
HOLDS = "ctypes.PyDLL(None).sleep(20)"
STAGE = f"""
import ctypes, os
from descent import errors
from descent.io.processes import apart
errors.run(lambda: apart(lambda: (print(os.getpid(), flush=True), {HOLDS})))
"""


@pytest.mark.parametrize(
    ("said", "most"), [("200000 100000", 2), ("50000 100000", 1), ("max 100000", 64), ("", 64), (None, 64)]
)
def test_a_container_has_the_cores_that_it_was_given(
    said: str | None, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda number: range(64), raising=False)
    monkeypatch.setattr(processes, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(processes, "OLDER", tmp_path)
    if said is not None:
        (tmp_path / "cpu.max").write_text(f"{said}\n")
    assert processes.cores() == most


@pytest.mark.parametrize(("quota", "most"), [(250_000, 2), (-1, 64)])
def test_so_has_one_of_the_older_control_groups(
    quota: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda number: range(64), raising=False)
    monkeypatch.setattr(processes, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(processes, "OLDER", tmp_path)
    for name, value in (("quota", quota), ("period", 100_000)):
        (tmp_path / f"cpu.cfs_{name}_us").write_text(f"{value}\n")
    assert processes.cores() == most


def test_the_answer_comes_back_and_the_process_is_gone() -> None:
    assert apart(lambda: (os.getpid() != os.getppid(), "x" * 1_000_000))[1] == "x" * 1_000_000
    assert apart(os.getpid) != os.getpid()
    assert not active_children()


class Unreadable(Exception):
    """Pickled, and not to be read again: it asks for two words and keeps one."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


def test_what_a_call_raises_is_raised_here_and_not_taken_for_a_killed_process(
    capfd: pytest.CaptureFixture,
) -> None:
    def fail(error: Exception) -> None:
        raise error

    with pytest.raises(ZeroDivisionError, match="by nothing"):
        apart(lambda: fail(ZeroDivisionError("by nothing")))
    with pytest.raises(RuntimeError, match="Unreadable: the cause"):
        apart(lambda: fail(Unreadable("the cause", "x")))
    assert capfd.readouterr().err == ""


DEAF = """
import os, signal, time
from multiprocessing import get_context
from descent import interruption
from descent.io import processes

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    time.sleep(60)

interruption.AGAIN = 0.1
worker = get_context("fork").Process(target=deaf)
worker.start()
time.sleep(0.3)
interruption.raised()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(9)
except KeyboardInterrupt:
    processes.stop()
    interruption.ignored()
    worker.join()
    print("ended")
"""


def test_an_interruption_that_is_raised_again_leaves_no_worker_behind() -> None:
    """Ending a worker that does not hear takes longer than the interruption waits."""
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", DEAF], env=environment(), capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("ended\n", "") and time.monotonic() - began < 20


MISSED = """
import os, signal, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from descent.errors import UserError
from descent.io import processes

def work(number):
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL) if number == 0 else time.sleep(60)

BaseProcess.terminate = lambda self: None  # the pool's order does not arrive
pool = ProcessPoolExecutor(2, get_context("fork"))
try:
    with processes.working(pool, "one was killed"):
        [future.result() for future in [pool.submit(work, number) for number in range(2)]]
except UserError as error:
    print(error)
"""


def test_of_a_pool_with_a_killed_worker_none_is_waited_for() -> None:
    """A pool does not tell one to end that it was just starting when another was killed, and waits for it."""
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", MISSED], env=environment(), capture_output=True, text=True, timeout=30
    )
    assert (ended.stdout, ended.stderr) == ("one was killed\n", "") and time.monotonic() - began < 20


ORPHANED = """
import os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from descent.io import processes

def work():
    print(os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, get_context(sys.argv[1]), processes.begin, (os.getpid(),))
    with processes.unheard():
        pool.submit(work)
    time.sleep(60)
"""


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_worker_ends_when_its_parent_is_killed(start: str, tmp_path: Path) -> None:
    (tmp_path / "orphaned.py").write_text(ORPHANED)
    command = [sys.executable, str(tmp_path / "orphaned.py"), start]
    source = {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, env=environment() | source, stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        until = time.monotonic() + 10
        while _runs(worker) and time.monotonic() < until:
            time.sleep(0.1)
        assert not _runs(worker)


def _runs(pid: int) -> bool:
    """Whether there is such a process that has not ended; one whose end nobody has asked for yet is a zombie."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


class LocalError(Exception):
    """Cannot be read again: what made it is not what it is made of."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} of {two}")


def _fail(one: int, two: int) -> None:
    raise LocalError(one, two) if one else UserError("mend it")


def test_an_error_of_a_worker_arrives_as_itself_or_where_it_cannot_as_its_words() -> None:
    with pytest.raises(RuntimeError, match="LocalError: 1 of 2"):
        processes.carrying(_fail, 1, 2)
    with pytest.raises(UserError, match="mend it"):
        processes.carrying(_fail, 0, 2)
    assert processes.carrying(max, 1, 2) == 2


def test_a_killed_call_is_one_sentence() -> None:
    with pytest.raises(UserError, match="a process was killed"):
        apart(lambda: os.kill(os.getpid(), signal.SIGKILL))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_during_a_call_that_holds_pythons_lock(number: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", STAGE],
        cwd=ROOT,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child = int(parent.stdout.readline())
    began = time.monotonic()
    parent.send_signal(number)
    _, told = parent.communicate(timeout=10)
    assert time.monotonic() - began < 2
    assert told.count("interrupted") == 1 and parent.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
