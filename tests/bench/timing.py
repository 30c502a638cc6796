"""How the benchmarks measure time: on which device, in which precisions, against what."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import get_args

import torch

from descent import config
from descent.config import Params
from descent.schema import Precision
from descent.training.devices import UNRECORDED, choose

WARMING = UNRECORDED + 1  # calls before any is timed: in the last of them a step is recorded
PATIENCE = {"cpu": 4.0, "cuda": 1.0}  # seconds of turns: a GPU has hundreds in one, and ten minutes for everything


@cache
def device() -> torch.device:
    """That of params.yaml; asked for when something is measured, and not when a test imports this."""
    return choose(config.load().device)


def in_every_precision(values: Params) -> list[Params]:
    """The same parameters in one precision after another; on a CPU, which gains by none of them, as they are."""
    if device().type == "cpu":
        return [values]
    return [in_precision(values, precision) for precision in get_args(Precision)]


def in_precision(values: Params, precision: Precision) -> Params:
    """The same parameters in another precision of training."""
    training = values.training.model_copy(update={"precision": precision})
    return values.model_copy(update={"training": training})


def clock() -> float:
    """Seconds: on a CPU the process's own, on a GPU those until all that it was told is done."""
    if device().type == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device())
    return time.perf_counter()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it a CPU computes as a stage's stacks do, side by side on a core each: more threads than small
    products can use would slow the bare passes down that a sweep is compared with."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def ratio(first: Callable[[], None], second: Callable[[], None], share: float = 1.0) -> tuple[float, float, float]:
    """Median seconds of first and of second, called in turns, and the median of their paired ratios.

    Args:
        share: of the patience; five pairs are taken at least.
    """
    pairs = []
    for call in (first, second):
        [call() for _ in range(WARMING)]
    until = time.perf_counter() + share * PATIENCE[device().type]
    while len(pairs) < 5 or time.perf_counter() < until:
        marks = [clock()]
        for call in (first, second):
            call()
            marks.append(clock())
        pairs.append((marks[1] - marks[0], marks[2] - marks[1]))
    ones, twos = torch.tensor(pairs, dtype=torch.float64).T
    return ones.median().item(), twos.median().item(), (ones / twos).median().item()


def per_second(call: Callable[[], None], seconds: float) -> float:
    """How often `call` is done in a second, after some that are not counted."""
    for _ in range(WARMING):
        call()
    took = _took(call, 1)
    times = max(1, int(seconds / max(took, 1e-6)))
    return times / _took(call, times)


def _took(call: Callable[[], None], times: int) -> float:
    """Seconds by the clock on the wall: what two cores do at once counts once."""
    clock()  # a GPU does what it was told before
    began = time.perf_counter()
    for _ in range(times):
        call()
    clock()
    return time.perf_counter() - began
