"""The next-token losses of many layers, though their logits never exist at once.

With 33 layers and 128,256 words the logits of one token are 17 MB, and so those of a batch tens of gigabytes. Here
the logits of `at_once` tokens of one layer exist at a time.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import cross_entropy, linear, nll_loss
from torch.utils.checkpoint import checkpoint


@runtime_checkable
class Vocal(Protocol):
    """What reads words out of a state: a norm, and a linear layer without bias."""

    head: Float[Tensor, "vocabulary width"]

    def normalised(self, state: Tensor) -> Tensor:
        """The state as the linear layer takes it."""


def cast_head(model: Vocal) -> Float[Tensor, "vocabulary width"]:
    """A frozen head as products take it, cast once for all layers of a batch: autocast would cast it, of
    gigabytes, anew for every product. One that trains stays as it is, so that its gradient adds up in float32."""
    kind = model.head.device.type
    casts = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    if casts and not model.head.requires_grad and model.head.dtype == torch.float32:
        return model.head.to(torch.get_autocast_dtype(kind))
    return model.head


def token_loss(
    model: Vocal,
    states: Float[Tensor, "tokens width"],
    targets: Int64[Tensor, " tokens"],
    at_once: int,
    head: Float[Tensor, "vocabulary width"] | None = None,
) -> Float[Tensor, ""]:
    """The mean cross-entropy (nats) of one layer's predictions; its gradient reaches the states and the readout.

    Of a frozen head the gradient is found with the loss itself; of many tokens on a GPU whose user installed
    liger-kernel its fused kernel does the same. Where the head trains, backward computes the logits again: a
    gradient of the head's size would else be kept for every layer.

    Args:
        at_once: tokens whose logits exist at the same time.
        head: `cast_head(model)`, of whoever asks for several layers.
    """
    head = cast_head(model) if head is None else head
    if not torch.is_grad_enabled():
        parts = (_summed(model.normalised(some), head, right) for some, right in _chunks(states, targets, at_once))
        return sum(parts) / len(targets)
    if not head.requires_grad:
        ready = model.normalised(states)
        if states.is_cuda and fuses(len(targets), *head.shape, at_once) and (fused := _liger()):
            return fused(head, ready, targets)
        return FrozenHeadLoss.apply(ready, head, targets, at_once) / len(targets)
    # Nothing random is in a readout, so no state of a random stream needs to be put back.
    again = {"use_reentrant": False, "preserve_rng_state": False}
    parts = (  # the head asked for anew by each: a gradient of one name for all would be one buffer more
        checkpoint(lambda some, right: _summed(model.normalised(some), model.head, right), *chunk, **again)
        for chunk in _chunks(states, targets, at_once)
    )
    return sum(parts) / len(targets)


def fuses(tokens: int, vocabulary: int, width: int, at_once: int) -> bool:
    """Whether liger's kernel reads the head less often than chunks of `at_once` tokens do: it cuts any number of
    tokens into about vocabulary / width parts, of which each reads all of it."""
    return tokens / at_once > vocabulary / width


class FrozenHeadLoss(torch.autograd.Function):
    """The summed cross-entropy of a head that does not train, and with it, chunk by chunk, its gradient: that of
    one token is head^T (softmax(logits) - onehot(target)), and no logit is worked out twice."""

    @staticmethod
    def forward(ctx: Any, ready: Tensor, head: Tensor, targets: Tensor, at_once: int) -> Tensor:
        """Both at once; the gradient, where one is asked for, waits for backward."""
        total, gradients = 0.0, []
        for some, right in _chunks(ready, targets, at_once):
            logits = linear(some, head)
            logs = _wide(logits).log_softmax(-1)
            total = total + nll_loss(logs, right, reduction="sum")
            if ctx.needs_input_grad[0]:  # f_0 has none where adapters alone train
                off = logs.exp_().scatter_add_(1, right[:, None], -torch.ones_like(logs[:, :1]))
                gradients.append((off.to(logits.dtype) @ head).to(ready.dtype))
        if gradients:
            ctx.save_for_backward(torch.cat(gradients))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None, None, None]:
        """The chain rule."""
        (gradient,) = ctx.saved_tensors
        return above * gradient, None, None, None


@torch.no_grad()
def layer_hits(
    model: Vocal, states: Float[Tensor, "depth tokens width"], targets: Int64[Tensor, " tokens"], at_once: int
) -> tuple[Float[Tensor, "depth tokens"], Bool[Tensor, "depth tokens"]]:
    """The cross-entropy of every layer's prediction of each token, and whether it is right."""
    losses, hits = [], []
    head = cast_head(model)
    for layer in states:
        for some, right in _chunks(layer, targets, at_once):
            scores = linear(model.normalised(some), head).float()
            losses.append(cross_entropy(scores, right, reduction="none"))
            hits.append(scores.argmax(-1) == right)
    return tuple(torch.cat(parts).view(len(states), -1) for parts in (losses, hits))


def _summed(ready: Tensor, head: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(_wide(linear(ready, head)), targets, reduction="sum")


def _wide(logits: Tensor) -> Tensor:
    """Losses stay float32 under autocast."""
    return logits if logits.dtype == torch.float64 else logits.float()


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
