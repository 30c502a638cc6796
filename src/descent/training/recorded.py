"""Functions of batches as CUDA graphs: the thousand kernels of a step are one launch of the host."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

PLAIN = 3  # calls of a kind before its recording: libraries load in them, kernels are compiled, moments made
Replay = Callable[[], None]


def graph(function: Callable[[], Any]) -> tuple[Replay, Any]:
    """Record what a function launches on a GPU, undone: a call that does it, and where its results will stand."""
    made = torch.cuda.CUDAGraph()
    # On a stream of the GPU in use, since torch's own is of the first that recorded; and of this thread alone:
    # others draw batches meanwhile, and may ask the GPU for memory.
    with torch.cuda.graph(made, stream=torch.cuda.Stream(), capture_error_mode="thread_local"):
        results = function()
    return made.replay, results


class Recorded:
    """A function of a batch; from the fourth call of a kind on it is replayed.

    A kind is the shapes of the batch's tensors, for as long as the same is asked beside it. A replay reads and
    writes the memory that the recorded call did: whatever else the function reads it must find where it was and
    change in place, and of what is no tensor it knows what that call saw. The next call overwrites what this one
    returned.
    """

    def __init__(
        self, function: Callable[..., Any], record: Callable[[Callable[[], Any]], tuple[Replay, Any]] = graph
    ) -> None:
        self.function, self.record = function, record
        self.asked: tuple[Hashable, ...] = ()
        self.calls: Counter[Hashable] = Counter()
        self.known: dict[Hashable, tuple[Replay, list[Tensor], Any]] = {}
        self.aside = torch.cuda.Stream() if torch.cuda.is_available() else None

    def __call__(self, batch: Any, *asked: Hashable) -> Any:
        """What the function returns of (batch, *asked)."""
        if asked != self.asked:  # a recording keeps the memory of a whole step
            self.asked = asked
            self.calls.clear()
            self.known.clear()
        tensors = _tensors(batch)
        kind = tuple((own.shape, own.dtype) for own in tensors)
        if kind not in self.known:
            self.calls[kind] += 1
            if self.calls[kind] <= PLAIN:
                return self._aside(lambda: self.function(batch, *asked))
            kept = tree_map_only(Tensor, torch.clone, batch)
            replay, results = self.record(lambda: self.function(kept, *asked))
            self.known[kind] = replay, _tensors(kept), results
        replay, places, results = self.known[kind]
        for place, own in zip(places, tensors, strict=True):
            place.copy_(own)
        replay()
        return results

    def _aside(self, call: Callable[[], Any]) -> Any:
        """On a stream of its own, as the steps before a recording have to be; the present one waits for it."""
        if self.aside is None:
            return call()
        present = torch.cuda.current_stream()
        self.aside.wait_stream(present)
        with torch.cuda.stream(self.aside):
            results = call()
        present.wait_stream(self.aside)
        return results


def _tensors(batch: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(batch) if isinstance(leaf, Tensor)]
