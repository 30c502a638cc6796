"""Stacks as tasks of a Ray cluster: several GPUs and hosts, which may be lost in the middle.

Nothing travels through Ray but the order to train a stack, how far it is, and small tables: cells and checkpoints
lie in the store, on a file system that all hosts share. A stack whose worker is lost goes on elsewhere from its
newest checkpoint.
"""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from descent.errors import UserError, sentence
from descent.io.failures import reason
from descent.runner import hosts, room, store
from descent.runner.executor import Job
from descent.runner.fingerprint import SOURCE
from descent.runner.head import Head
from descent.runner.schema import Ray

PATIENCE = 10.0  # seconds for a head to answer
OFTEN = 0.5  # seconds between what a worker tells of its progress
# Of the process that asks. How soon a host that hangs is given up is its cluster's to say (docs/gpus.md): pings
# that the others do not know of are too many to them, and end every stack after a minute.
LIMITS = {"RAY_task_oom_retries": "3"}  # else a stack that does not fit is begun again for ever


def run_all(
    jobs: Sequence[Job],
    device: torch.device,
    progress: Callable[..., Any],
    settings: Ray,
    shares: Mapping[str, float],
) -> list[Any]:
    """As executor.run_all, on the cluster of `settings`.

    Raises:
        UserError: Ray is not installed, no cluster answers, a host has other code, versions or store than this,
            all retries of a stack were lost, or a stack failed for what a user can mend.
    """
    ray = _library()
    if device.index is not None:
        raise UserError(f"device: {device}, but Ray chooses a GPU for each stack: set device: cuda or auto")
    with _connected(ray, settings):
        there, needs = room.resources(ray), []
        for job in jobs:
            gpus = 0.0 if device.type == "cpu" else shares.get(job.stack[0].model, shares["default"])
            needs.append(room.fitting(there, job.threads, gpus))
        return _together(ray, jobs, needs, progress, settings)


def _together(
    ray: Any,
    jobs: Sequence[Job],
    needs: Sequence[room.Need],
    progress: Callable[..., Any],
    settings: Ray,
) -> list[Any]:
    """A task for every stack, and one bar for all."""
    tally = Tally.bind(ray)
    here = hosts.identity() | {"folder": str(Path.cwd())}
    # ray.remote here and not as a decorator: the tests' type checker wraps what it finds at a module's top.
    # A process that has used a GPU keeps memory on it, and the card that it began with: it takes one stack.
    once = ray.remote(max_calls=1) if any(own["num_gpus"] for own in needs) else ray.remote
    task = once(_task)
    marks, waiting = hosts.marked(), {}
    try:
        head, left = Head(ray.get_runtime_context().gcs_address), room.Room(ray)
        submitted = [
            task.options(max_retries=settings.retries, **own).remote(job, number, tally, here, marks)
            for number, (job, own) in enumerate(zip(jobs, needs, strict=True))
        ]
        waiting |= zip(submitted, needs, strict=True)
        found = {}
        done = (0, 0)
        while waiting:
            ready, _ = ray.wait([*waiting], timeout=0.5)
            if head.ask():  # of one that is silent the hosts would be waited for
                left.ask(waiting.values())
            done = _shown(ray.get(tally.total.remote()), done, progress)
            for one in ready:
                found[one] = ray.get(one)
                del waiting[one]
        return [found[one] for one in submitted]
    except ray.exceptions.RayTaskError as error:
        if told := sentence(error.cause):  # Ray's own is of no kind that a stage knows
            raise UserError(told) from None
        if "failed to import" in str(error):
            raise _told(error, settings) from None
        raise  # a fault of ours, with its trace
    except ray.exceptions.RayError as error:
        raise _told(error, settings) from None
    finally:
        _end(ray, waiting)
        for mark in marks:
            mark.unlink(missing_ok=True)


def _shown(now: tuple[int, int], done: tuple[int, int], progress: Callable[..., Any]) -> tuple[int, int]:
    """Move the bar from what was done to what is, in all and known beforehand."""
    progress(now[0] - done[0])
    if now[1] > done[1]:
        progress(now[1] - done[1], True)
    return now


def _task(job: Job, number: int, tally: Any, here: dict, marks: Sequence[Path]) -> Any:
    """On a worker: one stack, once this host is found to be as the driver's."""
    import ray  # an extra

    hosts.enter(here, marks)
    store.use_leases(True)
    torch.set_num_threads(job.threads)
    done = known = 0
    told = time.monotonic()

    def progress(more: int, before: bool = False) -> None:
        nonlocal done, known, told
        done += more
        known += more if before else 0
        if time.monotonic() - told > OFTEN:  # a message costs more than a step of a small cell
            tally.tell.remote(number, done, known)  # absolute: a stack that began again counts once
            told = time.monotonic()

    found = job.work(job.stack, progress)
    ray.get(tally.tell.remote(number, done, known))  # before this process may end
    return found


class Tally:
    """How much of each stack is done; it lives beside the driver, so that no lost host takes it along."""

    def __init__(self) -> None:
        self.done: dict[int, int] = {}
        self.before: dict[int, int] = {}

    def tell(self, number: int, done: int, before: int = 0) -> None:
        """A stack is so far; what it did before it was lost is not counted back.

        Args:
            done: in all.
            before: of it what an earlier run had done.
        """
        self.before.setdefault(number, before)  # of a stack that goes on elsewhere this run has done the rest
        self.done[number] = max(done, self.done.get(number, 0))

    def total(self) -> tuple[int, int]:
        """Of all stacks: what this run has done, and what an earlier one had."""
        before = sum(self.before.values())
        return sum(self.done.values()) - before, before

    @classmethod
    def bind(cls, ray: Any) -> Any:
        """An actor of it on the driver's own host."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        return ray.remote(cls).options(num_cpus=0, scheduling_strategy=here).remote()


def _library() -> Any:
    os.environ.update({name: value for name, value in LIMITS.items() if name not in os.environ})
    try:
        import ray
    except ImportError:
        raise UserError(
            "executor: ray, but Ray is not installed: pip install -r requirements-ray.txt, or set executor: local"
        ) from None
    return ray


@contextmanager
def _connected(ray: Any, settings: Ray) -> Iterator[None]:
    """A connection to the cluster, whose workers import this project's package and use its store."""
    path = os.pathsep.join([str(SOURCE.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {"PYTHONPATH": path, "DVC_ROOT": str(store.root().resolve().parent), "OMP_WAIT_POLICY": "PASSIVE"}
    options = {"runtime_env": {"env_vars": variables}, "log_to_driver": False, "logging_level": "error"}
    heard = signal.getsignal(signal.SIGTERM)
    try:
        if settings.address != "auto":  # Ray itself would ask for minutes
            host, _, port = settings.address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=PATIENCE).close()
        ray.init(address=settings.address, **options)
        signal.signal(signal.SIGTERM, heard)  # Ray sets one of its own, which ends a stage without a word
    except RuntimeError as error:  # of other versions of Ray or Python; it says which, in several lines
        raise UserError(
            f"the Ray cluster at {settings.address} does not fit this host ({' '.join(str(error).split())}): "
            "pip install -r requirements-ray.txt with one Python on every host, and start Ray anew"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(
            f"no Ray cluster answers at {settings.address} ({reason(error)}): start one with `ray start --head`, "
            "name its host and port in ray.address, or set executor: local"
        ) from None
    except ray.exceptions.RayError as error:
        raise UserError(
            f"the Ray cluster at {settings.address} does not let this host in ({reason(error)}): give every host "
            "the same RAY_AUTH_MODE and token, and run again"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _end(ray: Any, waiting: Iterable[Any]) -> None:
    """Stop what still runs; what was finished stays in the store."""
    for one in waiting:
        with suppress(ray.exceptions.RayError):
            ray.cancel(one, force=True)


def _told(error: Any, settings: Ray) -> UserError:
    """What Ray raised, as one sentence."""
    if "failed to import" in str(error):
        return UserError(
            f"a host cannot import {SOURCE.resolve()}: put the project on a file system that all hosts share, at "
            "the same path, and start Ray in the project's environment on each"
        )
    return UserError(
        f"the Ray cluster lost a stack, and after {settings.retries} more tries it is not trained "
        f"({type(error).__name__}: {reason(error)}): what was finished is kept; look at `ray status`, run again"
    )
