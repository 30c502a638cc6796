"""Where stacks are trained and evaluated: one after another on a GPU, side by side on a CPU's cores."""

import os
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.io import processes
from descent.io.failures import reason

Work = Callable[[Sequence[Cell], Callable[[int], Any]], None]


def run_all(
    stacks: Sequence[Sequence[Cell]],
    work: Work,
    device: torch.device,
    planned: int,
    progress: Callable[[int], Any],
) -> None:
    """Do `work(stack, progress)` for every stack; the first failure ends all, what was finished stays.

    On a CPU the steps are small products that more threads do not speed up, so stacks share the cores, one
    process each. A stack's threads depend on `planned`, the stacks of the whole item, and not on how many are
    left: a resumed run then rounds as an uninterrupted one.

    Args:
        work: trains or evaluates one stack; picklable.
        progress: called with how much was done (cell epochs, texts, ...) since it was called last.
    """
    if device.type != "cpu":
        for stack in stacks:
            work(stack, progress)
        return
    if not stacks:
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    context = get_context("fork")  # torch is loaded but has run nothing yet: its threads start in the workers
    counter, stop = context.Value("q", 0), context.Event()
    start = (counter, stop, os.getpid(), max(1, cores // planned))
    with ProcessPoolExecutor(min(cores, len(stacks)), context, _begin, start) as pool:
        with processes.unheard():
            waiting = {pool.submit(_work, work, stack) for stack in stacks}
        told = 0
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                now = counter.value
                progress(now - told)
                told = now
                for future in done:
                    future.result()
        except BrokenProcessPool:
            raise UserError(
                "a process was killed, most likely for lack of memory: lower training.stack_elements.cpu "
                "or the batch, and run the same command again"
            ) from None
        except BaseException:  # an epoch may be long
            processes.stop()
            raise
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


_shared: tuple[Any, Any] | None = None  # the worker's view of the work done, and of the order to stop


def _begin(counter: Any, stop: Any, parent: int, threads: int) -> None:
    global _shared
    processes.begin()
    _shared = counter, stop
    torch.set_num_threads(threads)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A worker whose parent was killed would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _work(work: Work, stack: Sequence[Cell]) -> None:
    counter, stop = _shared

    def progress(done: int) -> None:
        with counter.get_lock():
            counter.value += done
        if stop.is_set():
            raise InterruptedError("another stack failed")

    try:
        work(stack, progress)
    except SystemExit:  # told by the parent to end; the pool would have the worker wait for more
        os._exit(1)
    except Exception as error:
        raise _travelling(error) from error


def _travelling(error: Exception) -> Exception:
    """The error, or its words where it cannot be pickled and read again: the pool would call the worker killed."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {reason(error)}")
    return error
