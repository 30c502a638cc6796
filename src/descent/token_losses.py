"""The next-token losses of many layers, though their logits never exist at once.

With 33 layers and 128,256 words the logits of one token are 17 MB, and so those of a batch tens of gigabytes. Here
the logits of `at_once` tokens of one layer exist at a time; backward computes them again.
"""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

Logits = Callable[[Tensor], Tensor]


def token_loss(
    logits: Logits, states: Float[Tensor, "tokens width"], targets: Int64[Tensor, " tokens"], at_once: int
) -> Float[Tensor, ""]:
    """The mean cross-entropy (nats) of one layer's predictions; its gradient reaches the states and the readout.

    Args:
        logits: the readout.
        at_once: tokens whose logits exist at the same time.
    """
    total = sum(
        checkpoint(_summed, logits, some, right, use_reentrant=False, preserve_rng_state=False)
        if torch.is_grad_enabled()
        else _summed(logits, some, right)
        for some, right in _chunks(states, targets, at_once)
    )
    return total / len(targets)


def layer_losses(
    logits: Logits,
    states: Float[Tensor, "depth tokens width"],
    targets: Int64[Tensor, " tokens"],
    at_once: int,
) -> Float[Tensor, " depth"]:
    """f_0 ... f_L of these tokens."""
    return torch.stack([token_loss(logits, layer, targets, at_once) for layer in states])


@torch.no_grad()
def layer_hits(
    logits: Logits,
    states: Float[Tensor, "depth tokens width"],
    targets: Int64[Tensor, " tokens"],
    at_once: int,
) -> tuple[Float[Tensor, " depth"], Int64[Tensor, " depth"]]:
    """Of every layer the summed cross-entropy (float64), and how many tokens are predicted right."""
    losses, hits = [], []
    for layer in states:
        loss, hit = 0.0, 0
        for some, right in _chunks(layer, targets, at_once):
            scores = logits(some).float()
            loss = loss + cross_entropy(scores, right, reduction="none").double().sum()
            hit = hit + (scores.argmax(-1) == right).sum()
        losses.append(loss)
        hits.append(hit)
    return torch.stack(losses), torch.stack(hits)


def _summed(logits: Logits, states: Tensor, targets: Tensor) -> Tensor:
    scores = logits(states)
    wide = scores if scores.dtype == torch.float64 else scores.float()  # losses stay float32 under autocast
    return cross_entropy(wide, targets, reduction="sum")


def _chunks(states: Tensor, targets: Tensor, at_once: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(states.split(at_once), targets.split(at_once), strict=True)
