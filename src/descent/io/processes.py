"""Worker processes that end with their parent's work: no traceback of theirs, nothing half-written."""

import os
import signal
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


def stop() -> None:
    """End all workers of this process now; each still puts away what it has half written."""
    for worker in active_children():
        worker.terminate()


def _end(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise SystemExit
