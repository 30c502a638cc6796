"""The next-token losses of many layers, though their logits never exist at once.

With 33 layers and 128,256 words the logits of one token are 17 MB, and so those of a batch tens of gigabytes. Here
the logits of `at_once` tokens of one layer exist at a time; backward computes them again.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint


@runtime_checkable
class Vocal(Protocol):
    """What reads words out of a state: a norm, and a linear layer without bias."""

    head: Float[Tensor, "vocabulary width"]

    def normalised(self, state: Tensor) -> Tensor:
        """The state as the linear layer takes it."""

    def readout(self, state: Tensor) -> Tensor:
        """Logits: both one after the other."""


def token_loss(
    model: Vocal, states: Float[Tensor, "tokens width"], targets: Int64[Tensor, " tokens"], at_once: int
) -> Float[Tensor, ""]:
    """The mean cross-entropy (nats) of one layer's predictions; its gradient reaches the states and the readout.

    On a GPU whose user installed liger-kernel its fused kernel does the same; not where the head trains, as it
    would then keep a gradient of the head's size for every layer.

    Args:
        at_once: tokens whose logits exist at the same time.
    """
    if not torch.is_grad_enabled():
        return sum(_summed(model, *chunk) for chunk in _chunks(states, targets, at_once)) / len(targets)
    if states.is_cuda and not model.head.requires_grad and (fused := _liger()):
        return fused(model.head, model.normalised(states), targets)
    # Nothing random is in a readout, so no state of a random stream needs to be put back.
    again = {"use_reentrant": False, "preserve_rng_state": False}
    parts = (checkpoint(_summed, model, *chunk, **again) for chunk in _chunks(states, targets, at_once))
    return sum(parts) / len(targets)


@torch.no_grad()
def layer_hits(
    model: Vocal, states: Float[Tensor, "depth tokens width"], targets: Int64[Tensor, " tokens"], at_once: int
) -> tuple[Float[Tensor, "depth tokens"], Bool[Tensor, "depth tokens"]]:
    """The cross-entropy of every layer's prediction of each token, and whether it is right."""
    losses, hits = [], []
    for layer in states:
        for some, right in _chunks(layer, targets, at_once):
            scores = model.readout(some).float()
            losses.append(cross_entropy(scores, right, reduction="none"))
            hits.append(scores.argmax(-1) == right)
    return tuple(torch.cat(parts).view(len(states), -1) for parts in (losses, hits))


def _summed(model: Vocal, states: Tensor, targets: Tensor) -> Tensor:
    scores = model.readout(states)
    wide = scores if scores.dtype == torch.float64 else scores.float()  # losses stay float32 under autocast
    return cross_entropy(wide, targets, reduction="sum")


def _chunks(states: Tensor, targets: Tensor, at_once: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(states.split(at_once), targets.split(at_once), strict=True)


@cache
def _liger() -> Callable[..., Any] | None:
    """liger-kernel's loss, where it is installed: called with the head, the states and the targets."""
    try:
        from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss
    except ImportError:
        return None
    return LigerFusedLinearCrossEntropyLoss()
