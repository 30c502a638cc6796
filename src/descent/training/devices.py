"""Which device computes, at which precision, compiled or recorded."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from descent.errors import UserError

UNRECORDED = 3  # calls of a kind before its recording: libraries load in them, kernels are compiled, moments made
Replay = Callable[[], None]
CAPTURE = "captur"  # in what a GPU says of a call that cannot be recorded


def visible(device: str) -> list[torch.device]:
    """The devices that params.yaml's `device` stands for: every GPU there is for `cuda` and, with one, for `auto`.

    Raises:
        UserError: no GPU where one is asked for, or none of that number.
    """
    word, _, number = device.partition(":")
    if word == "cpu" or (word == "auto" and not torch.cuda.is_available()):
        return [torch.device("cpu")]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not count:
        raise UserError(f"device: {device}, but torch sees no GPU here; set device: auto or cpu in params.yaml")
    if number and int(number) >= count:
        known = "cuda:0 alone" if count == 1 else f"cuda:0 to cuda:{count - 1}"
        raise UserError(f"device: {device}, but there is {known} here; name one of these, or set device: auto")
    return [torch.device("cuda", int(number))] if number else [torch.device("cuda", i) for i in range(count)]


def choose(device: str) -> torch.device:
    """The device named by params.yaml's `device`; `cuda` without a number is every GPU, or the one set.

    Raises:
        UserError: as `visible`.
    """
    first = visible(device)[0]
    return first if ":" in device else torch.device(first.type)


def free_memory(device: torch.device) -> int:
    """The bytes that a GPU has left, those that torch keeps for later among them; 0 of a CPU, whose memory is
    where data are anyway."""
    if device.type != "cuda":
        return 0
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + kept


def compiled(function: Callable[..., Any], how: str) -> Callable[..., Any]:
    """A function of tensors as torch compiles it, for one stack of cells.

    What was compiled before in this process is forgotten: after eight unlike stacks torch would compile no more
    and hardly say so, and graphs of finished stacks would keep their memory. Kernels are found again on the disk.

    Args:
        how: `kernels` makes one kernel of many operations; `graphs` also has a GPU replay all of them at once, so
            that the host has one thing to launch. What a graph returns is copied: its next replay writes there.
    """
    torch.compiler.reset()
    made = torch.compile(function, mode={"kernels": "default", "graphs": "reduce-overhead"}[how])
    return made if how == "kernels" else lambda *inputs: tree_map(torch.clone, made(*inputs))


def graph(function: Callable[[], Any]) -> tuple[Replay, Any]:
    """Record what a function launches on a GPU, undone: a call that does it, and where its results will stand.

    Raises:
        UserError: the function does what cannot be recorded.
    """
    made = torch.cuda.CUDAGraph()
    # On a stream of the GPU in use, since torch's own is of the first that recorded; and of this thread alone:
    # others draw batches meanwhile, and may ask the GPU for memory.
    try:
        with torch.cuda.graph(made, stream=torch.cuda.Stream(), capture_error_mode="thread_local"):
            results = function()
    except RuntimeError as error:
        cause = error.__context__ or error  # the end of a recording that failed says that alone
        if isinstance(cause, torch.OutOfMemoryError) or CAPTURE not in str(cause):
            raise cause from None
        raise UserError(
            "a GPU cannot replay a step of this model or arm, which asks it for a number or for memory of its "
            f"own: set training.compile: false in params.yaml ({str(cause).partition(chr(10))[0]})"
        ) from error
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
            if self.calls[kind] <= UNRECORDED:
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


@contextmanager
def exact(device: torch.device) -> Iterator[None]:
    """Within it products are of float32, whatever the precision around it."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """The context of every forward; losses and multipliers stay float32.

    `tf32` lets float32 products use the tensor cores, `bf16` computes them in bfloat16.
    """
    torch.set_flush_denormal(True)  # saturated softmax weights underflow
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = precision == "tf32"  # convolutions, which else always would
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
