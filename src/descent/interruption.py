"""SIGINT and SIGTERM, whenever they arrive: one line, exit code 130 (runner.store: nothing is lost).

DVC leaves Ctrl-C to the stage that runs, and begins the next one after a stage that ends well: one that does not
hear it goes on until the whole pipeline is made.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TOLD = "\ninterrupted; what was finished is kept, run the same command to go on"
AGAIN = 1.0  # seconds that an interruption has to arrive
_done = False


def raised() -> None:
    """From now on as KeyboardInterrupt, again and again until `ignored`: libraries swallow it while they load.

    Compiled modules do, and whatever has a bare `except`.
    """
    _answer(_raise)


def ends_at_once() -> None:
    """From now on by the end of the process, all being written: an exception would be a traceback by now.

    Raises:
        KeyboardInterrupt: one was swallowed within the last second.
    """
    global _done
    if pending():
        raise KeyboardInterrupt
    _answer(end)
    _done = True


def pending() -> bool:
    """Whether one was raised within the last second: what has come of it may be another exception."""
    return bool(signal.getitimer(signal.ITIMER_REAL)[0])


def last() -> None:
    """To be called when all else is done at exit: after a stage that ended well, end before modules are torn down.

    That takes a tenth of a second, in which Python no longer calls handlers, and does nothing that a stage needs.
    """
    if _done:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # a closed one is None
            stream.flush()
        os._exit(0)


def ignored() -> None:
    """From now on not at all."""
    _answer(signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def held_off() -> Iterator[None]:
    """What is done about an interruption, or another failure, is not interrupted: what is raised again waits."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        yield
        return
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, left)


def end(*_: object) -> None:
    """A handler: tell and end."""
    if sys.stdout is not None:
        sys.stdout.flush()
    os.write(2, f"{TOLD}\n".encode())
    os._exit(130)


def _raise(*_: object) -> None:
    # The thread of a process pool whose workers heard it too may fail while it ends them, and a callback of
    # Python's own loses it: that is no news.
    threading.excepthook = sys.unraisablehook = lambda _: None
    signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    raise KeyboardInterrupt


def _answer(handler: Callable[..., None] | signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)
