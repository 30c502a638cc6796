"""Where stacks are trained and evaluated: on a CPU's cores, on every GPU of this host, or on a cluster."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import torch

from descent.cells import Cell
from descent.config import Params
from descent.errors import UserError
from descent.io import processes
from descent.runner import store
from descent.runner.devices import cores, share, threads
from descent.runner.schema import ALONE, Ray
from descent.training.devices import visible

Work = Callable[[Sequence[Cell], Callable[[int], Any]], None]


@dataclass(frozen=True)
class Way:
    """Which engine takes a stage's stacks; no number depends on it."""

    engine: str = "local"
    gpu_share: Mapping[str, float] = field(default_factory=lambda: ALONE)
    ray: Ray = field(default_factory=Ray)


_way = Way()


def use(params: Params) -> None:
    """Run the stacks of this process as params.yaml says; a stage's entry calls it once."""
    global _way
    _way = Way(params.executor, params.gpu_share, params.ray)
    store.use_leases(params.executor == "ray")


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
    left: a resumed run then rounds as an uninterrupted one. GPUs take a process each, or as many as their share
    allows; to a single process at a time nothing is sent.

    Args:
        work: trains or evaluates one stack; picklable.
        device: `cuda` without a number is every GPU of this host.
        progress: called with how much was done (cell epochs, texts, ...) since it was called last.

    Raises:
        UserError: no such device, a stack that failed for what a user can mend, or a killed process.
    """
    if not stacks:
        return
    if _way.engine == "ray":
        from descent.runner import cluster  # an extra, which takes seconds to load

        cluster.run_all(stacks, work, device, planned, progress, _way.ray, _way.gpu_share)
        return
    found = visible(str(device))
    if device.type == "cpu":
        context = get_context("fork")  # torch is loaded but has run nothing yet: its threads start in the workers
        places: list[torch.device | None] = [None] * min(cores(), len(stacks))
    else:
        context = get_context("spawn")  # a forked process cannot use CUDA
        places = [one for _ in range(share(_way.gpu_share, stacks[0][0].model)) for one in found][: len(stacks)]
        if len(places) == 1:
            for stack in stacks:
                work(stack, progress)
            return
    _side_by_side(stacks, work, context, places, threads(planned), progress)


def _side_by_side(
    stacks: Sequence[Sequence[Cell]],
    work: Work,
    context: Any,
    places: Sequence[torch.device | None],
    own_threads: int,
    progress: Callable[[int], Any],
) -> None:
    """A process for every place, which takes one stack after another."""
    counter, stop, free = context.Value("q", 0), context.Event(), context.SimpleQueue()
    for place in places:
        free.put(place)
    start = (counter, stop, free, os.getpid(), own_threads)
    with ProcessPoolExecutor(len(places), context, _begin, start) as pool:
        told = 0
        try:
            with processes.unheard():
                waiting = {pool.submit(_work, work, stack) for stack in stacks}
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                now = counter.value
                progress(now - told)
                told = now
                for future in done:
                    future.result()
        except BrokenProcessPool:
            kind = "cpu" if places[0] is None else "cuda"
            raise UserError(
                f"a process was killed, most likely for lack of memory: lower training.stack_elements.{kind} "
                "or the batch, and run the same command again"
            ) from None
        except BaseException:  # an epoch may be long
            processes.stop()
            raise
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


_shared: tuple[Any, Any] | None = None  # the worker's view of the work done, and of the order to stop


def _begin(counter: Any, stop: Any, free: Any, parent: int, own_threads: int) -> None:
    global _shared
    _shared = counter, stop
    torch.set_num_threads(own_threads)
    place = free.get()
    if place is not None:
        torch.cuda.set_device(place)  # `cuda` without a number is this one from now on
    processes.end_with(parent)
    processes.begin()


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
        raise processes.travelling(error) from error
