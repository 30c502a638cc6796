"""Where stacks are trained and evaluated: on a CPU's cores, on every GPU of this host, or on a cluster."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import torch

from descent.cells import Cell
from descent.config import Params
from descent.io import processes
from descent.io.processes import cores
from descent.runner import store
from descent.runner.schema import ALONE, Ray
from descent.runner.shares import share, threads
from descent.training.devices import visible

Work = Callable[[Sequence[Cell], Callable[..., Any]], Any]


@dataclass(frozen=True)
class Job:
    """A stack, what is done with it, and on how many threads where that is a CPU; picklable."""

    stack: Sequence[Cell]
    work: Work
    threads: int


def jobs(stacks: Sequence[Sequence[Cell]], work: Work, planned: int) -> list[Job]:
    """The same `work`, training or evaluation, for each of these stacks.

    A stack's threads depend on `planned`, all stacks of a stage, and not on how many are left: a resumed run then
    rounds as an uninterrupted one.
    """
    return [Job(stack, work, threads(planned)) for stack in stacks]


@dataclass(frozen=True)
class Way:
    """Which engine takes a stage's stacks; no number depends on it."""

    engine: str = "local"
    gpu_share: Mapping[str, float] = field(default_factory=lambda: ALONE)
    ray: Ray = field(default_factory=Ray)


_way = Way()


def use(params: Params) -> None:
    """Run the stacks of this process as params.yaml says; a stage's entry calls it once, before torch has run."""
    global _way
    if params.device == "cpu" or not torch.cuda.is_available():
        # Its workers are forks. One of a process that has started threads of its own waits for these for ever as
        # soon as it has two to work with; and before it forks it only plans.
        torch.set_num_threads(1)
    _way = Way(params.executor, params.gpu_share, params.ray)
    store.use_leases(params.executor == "ray")


def run_all(jobs: Sequence[Job], device: torch.device, progress: Callable[..., Any]) -> list[Any]:
    """Do every job's `work(stack, progress)`; the first failure ends all, what was finished stays.

    On a CPU the steps are small products that more threads do not speed up, so stacks share the cores, one
    process each. GPUs take a process each, or as many as the model's share allows, models of one share after those
    of another; to a single process at a time nothing is sent.

    Args:
        jobs: of one item or several, the longest of each first.
        device: `cuda` without a number is every GPU of this host.
        progress: called with how much was done (cell epochs, texts, ...) since it was called last; with True
            behind it, of what an earlier run had done.

    Returns:
        What each job's work returns.

    Raises:
        UserError: no such device, a stack that failed for what a user can mend, or a killed process.
    """
    if not jobs:
        return []
    if _way.engine == "ray":
        from descent.runner import cluster  # an extra, which takes seconds to load

        return cluster.run_all(jobs, device, progress, _way.ray, _way.gpu_share)
    found = visible(str(device))
    if device.type == "cpu":
        context = get_context("fork")  # torch is loaded but has started no thread: see `use`
        return _side_by_side(jobs, context, [None] * min(cores(), len(jobs)), progress)
    together = [share(_way.gpu_share, job.stack[0].model) for job in jobs]
    results: dict[int, Any] = {}
    for count in sorted({*together}, reverse=True):  # models that share a GPU by as many go together
        numbers = [number for number, own in enumerate(together) if own == count]
        own = [jobs[number] for number in numbers]
        places = [one for _ in range(count) for one in found]
        if len(places) == 1:  # else a later stack would find on its card what this process keeps there
            torch.cuda.set_device(places[0])  # graphs and streams are of the one in use, whatever tensors say
            done = [job.work(job.stack, progress) for job in own]
        else:  # a forked process cannot use CUDA
            torch.cuda.empty_cache()  # of a model that had the card to itself
            done = _side_by_side(own, get_context("spawn"), places[: len(own)], progress)
        results |= zip(numbers, done, strict=True)
    return [results[number] for number in range(len(jobs))]


def _side_by_side(
    jobs: Sequence[Job], context: Any, places: Sequence[torch.device | None], progress: Callable[..., Any]
) -> list[Any]:
    """A process for every place, which takes one stack after another."""
    counter = context.Array("q", 2)  # what was done here, and before
    stop = context.Event()
    free = context.SimpleQueue()
    for place in places:
        free.put(place)
    start = (counter, stop, free, os.getpid())
    kind = "cpu" if places[0] is None else "cuda"
    killed = (
        f"a process was killed, most likely for lack of memory: lower training.stack_elements.{kind} "
        "or the batch, and run the same command again"
    )
    pool = ProcessPoolExecutor(len(places), context, _begin, start)
    told = [0, 0]
    with processes.working(pool, killed):
        try:
            with processes.unheard():
                submitted = [pool.submit(processes.carrying, _work, job) for job in jobs]
            waiting = set(submitted)
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                here, before = (now - then for now, then in zip(counter[:], told, strict=True))
                told = [told[0] + here, told[1] + before]
                progress(here)
                if before:
                    progress(before, True)
                for future in done:
                    future.result()
            return [future.result() for future in submitted]
        finally:
            stop.set()


_shared: tuple[Any, Any, torch.device | None] | None = None  # of a worker: work done, the order to stop, its GPU


def _begin(counter: Any, stop: Any, free: Any, parent: int) -> None:
    global _shared
    _shared = counter, stop, free.get()
    processes.begin(parent)


def _work(job: Job) -> Any:
    counter, stop, place = _shared
    torch.set_num_threads(job.threads)

    def progress(done: int, before: bool = False) -> None:
        with counter.get_lock():
            counter[before] += done
        if stop.is_set():
            raise InterruptedError("another stack failed")

    try:
        if place is not None:  # here and not at a worker's begin, since a GPU that is full is told by what fails
            torch.cuda.set_device(place)  # `cuda` without a number is this one from now on
        return job.work(job.stack, progress)
    except SystemExit:  # told by the parent to end; the pool would have the worker wait for more
        os._exit(1)
