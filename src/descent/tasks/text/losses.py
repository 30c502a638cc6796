"""The task loss f of each layer's output: the cross-entropy (section 5.2)."""

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy


def text_losses(
    logits: Float[Tensor, "cells depth batch classes"], labels: Int64[Tensor, " batch"]
) -> Float[Tensor, "cells depth batch"]:
    """f_0 ... f_L of each text: cross-entropy in nats of every layer's output."""
    targets = labels.expand(logits.shape[:-1])
    return cross_entropy(logits.float().flatten(0, 2), targets.flatten(), reduction="none").view(targets.shape)
