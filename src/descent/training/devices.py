"""Which device computes, at which precision."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_map

from descent.errors import UserError


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
