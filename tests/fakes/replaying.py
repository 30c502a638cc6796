"""A CUDA graph's stand-in on a CPU: what a function does is recorded, undone, and done again in the same place."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only


class _Recording(TorchDispatchMode):
    """Every operation with its arguments and where its results stand; what it overwrote, to be put back."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Callable, tuple, dict, list[Tensor]]] = []
        self.before: list[tuple[Tensor, Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            self.before += [(own, own.clone()) for own in _tensors((args, kwargs))]
        results = func(*args, **kwargs)
        # Not the results themselves: autograd would hang its nodes on them.
        plain = tree_map_only(Tensor, Tensor.detach, (args, kwargs))
        self.done.append((func, *plain, [own.detach() for own in _tensors(results)]))
        return results

    @torch.no_grad()
    def undo(self) -> None:
        for own, old in reversed(self.before):
            own.detach().copy_(old)

    @torch.no_grad()
    def again(self) -> None:
        for func, args, kwargs, places in self.done:
            for place, result in zip(places, _tensors(func(*args, **kwargs)), strict=True):
                if place.data_ptr() != result.data_ptr():
                    place.copy_(result)


def record(function: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
    """As devices.graph."""
    with _Recording() as made:
        results = function()
    made.undo()
    return made.again, results


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]
