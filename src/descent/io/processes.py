"""Worker processes that end with their parent's work: no traceback of theirs, nothing half-written."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children

ENDING = {signal.SIGINT, signal.SIGTERM}


@contextmanager
def unheard() -> Iterator[None]:
    """Signals wait while workers start: one that is interrupted before `begin` would show where it was."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def begin() -> None:
    """In a worker, first of all: the parent alone hears Ctrl-C, and ends its workers by `stop`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # told while it starts: there is nothing to put away
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    signal.signal(signal.SIGTERM, _end)


def end_with(parent: int) -> None:
    """In a worker: end when the parent is gone. One whose parent was killed would wait for work for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cores() -> int:
    """The processor's cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stop() -> None:
    """End all workers of this process now; each still puts away what it has half written."""
    for worker in active_children():
        worker.terminate()


def _end(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise SystemExit
