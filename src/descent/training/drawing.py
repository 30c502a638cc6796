"""The batches of an epoch, one after another; for a GPU the next ones are drawn while its steps are launched."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import torch

AHEAD = 3  # batches: a recorded step of small models takes a GPU less time than one thread to draw its noise


def drawn_in_turn(draw: Callable[[int], Any], steps: int, ahead: bool) -> Iterator[Any]:
    """What `draw` returns for each step, in their order.

    Args:
        draw: called for the first step before any other; a batch depends on no other one.
        ahead: draw the next AHEAD ones meanwhile, on as many threads. A GPU's host has to draw and to launch, and
            what draws numbers leaves Python to who launches; a CPU computes on all its cores anyway.
    """
    if not ahead:
        yield from map(draw, range(steps))
        return
    with ThreadPoolExecutor(AHEAD, "drawing", *_same_gpu()) as threads:
        first = threads.submit(draw, 0).result()  # what a first batch finds out is there for the others
        rest = iter(range(1, steps))
        coming = deque(threads.submit(draw, step) for step in islice(rest, AHEAD))
        yield first
        while coming:
            batch = coming.popleft().result()
            coming.extend(threads.submit(draw, step) for step in islice(rest, 1))
            yield batch


def _same_gpu() -> tuple[Callable[[int], None] | None, tuple[int, ...]]:
    """What a thread begins with: which of several GPUs `cuda` stands for is told to each thread by itself."""
    return (torch.cuda.set_device, (torch.cuda.current_device(),)) if torch.cuda.is_available() else (None, ())
