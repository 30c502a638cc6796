"""The batches of an epoch, one after another; for a GPU the next is drawn while this one's step is launched."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch


def in_turn(draw: Callable[[int], Any], steps: int, ahead: bool) -> Iterator[Any]:
    """What `draw` returns for each step, in their order.

    Args:
        ahead: draw the next on a thread of its own meanwhile. A GPU's host has to draw and to launch, and what
            draws numbers leaves Python to who launches; a CPU computes on all its cores anyway.
    """
    if not ahead:
        yield from map(draw, range(steps))
        return
    with ThreadPoolExecutor(1, "drawing", *_same_gpu()) as thread:
        coming = thread.submit(draw, 0)
        for step in range(1, steps + 1):
            batch = coming.result()
            if step < steps:
                coming = thread.submit(draw, step)
            yield batch


def _same_gpu() -> tuple[Callable[[int], None] | None, tuple[int, ...]]:
    """What a thread begins with: which of several GPUs `cuda` stands for is told to each thread by itself."""
    return (torch.cuda.set_device, (torch.cuda.current_device(),)) if torch.cuda.is_available() else (None, ())
