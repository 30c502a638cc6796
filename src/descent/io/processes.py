"""Worker processes that end with their parent's work: no traceback of theirs, nothing half-written."""

import os
import pickle
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from descent import interruption
from descent.errors import UserError
from descent.io.failures import reason

ENDING = {signal.SIGINT, signal.SIGTERM}
QUOTA = Path("/sys/fs/cgroup/cpu.max")
OLDER = Path("/sys/fs/cgroup/cpu")  # where control groups are of version 1
GRACE = 0.8  # seconds that workers have to put away what they have half written
Answer = TypeVar("Answer")


@contextmanager
def unheard() -> Iterator[None]:
    """Signals wait while workers start: one that is interrupted before `begin` would show where it was."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def begin(parent: int) -> None:
    """In a worker, when it is ready: the parent alone hears Ctrl-C, and ends its workers by `stop`.

    Until then signals wait (`unheard`): what a pool begins its workers with shows where it was interrupted. From
    then on the worker ends when the parent is gone: one whose parent was killed would wait for work for ever.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # told while it starts: there is nothing to put away
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    signal.signal(signal.SIGTERM, _end)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def cores() -> int:
    """The processor's cores that this process may use, be it bound to them or a container given their time."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(bound, _quota())


def _quota() -> int:
    """The cores whose time a container of Linux may use, whole ones and at least one; of no container many."""
    files = [QUOTA] if QUOTA.exists() else [OLDER / f"cpu.cfs_{name}_us" for name in ("quota", "period")]
    with suppress(OSError, ValueError):  # "max 100000" or "-1" where there is no limit
        time_of, period = map(int, " ".join(file.read_text() for file in files).split())
        return max(1, time_of // period) if time_of > 0 else sys.maxsize
    return sys.maxsize


def processor() -> str:
    """The model of this machine's processor."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def apart(work: Callable[[], Answer]) -> Answer:
    """What a call returns, from a process of its own: meanwhile this one hears Ctrl-C at once.

    For a call into a library that keeps Python's lock for seconds: handlers of signals wait for it too.

    Raises:
        UserError: the process was killed.
        Exception: what the call raised.
    """
    receiver, sender = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_answer, args=(work, receiver, sender), daemon=True)
    with unheard():
        process.start()
    sender.close()  # else its end would not be seen when the process is killed
    try:
        answer, error = receiver.recv()
    except EOFError:
        raise UserError(
            "a process was killed, most likely for lack of memory: end other programs and run it again"
        ) from None
    finally:
        process.kill()  # it has nothing to put away
        process.join()
        receiver.close()
    if error is not None:
        raise error
    return answer


def carrying(work: Callable[..., Answer], *inputs: Any) -> Answer:
    """In a worker: the answer of `work`, or an error that can travel to the parent."""
    try:
        return work(*inputs)
    except Exception as error:
        raise _travelling(error) from error


def _travelling(error: Exception) -> Exception:
    """The error, or its words where it cannot be pickled and read again: a pool would call the worker killed."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {reason(error)}")
    return error


def _answer(work: Callable[[], Answer], receiver: Connection, sender: Connection) -> None:
    receiver.close()  # else it would wait for ever to be read, where its parent was killed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        answer = work(), None
    except Exception as error:
        answer = None, _travelling(error)
    sender.send(answer)


def stop() -> None:
    """End all workers of this process now; each still puts away what it has half written.

    One that was just handing an answer back has lost the order there, as the pool's own code swallows it: it is
    killed. What it had half written whoever comes next removes (io.folders).
    """
    with interruption.held_off():  # one that is raised again meanwhile would leave them, and be waited for
        workers = active_children()
        until = time.monotonic() + GRACE
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
            if worker.is_alive():
                worker.kill()


@contextmanager
def working(pool: ProcessPoolExecutor, killed: str) -> Iterator[None]:
    """A pool of workers while its work is done: what ends that early ends them too.

    Where a worker was killed the others are ended here and not left to the pool: it misses one that it was just
    starting, and then waits for it for ever.

    Raises:
        UserError: a worker was killed; it says `killed`.
    """
    try:
        yield
    except BrokenProcessPool:
        stop()
        raise UserError(killed) from None
    except BaseException:  # what they do may take long
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    sys.unraisablehook = lambda _: None  # in a callback of Python's own it is lost, and `stop` kills
    raise SystemExit
