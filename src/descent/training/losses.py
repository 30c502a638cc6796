"""The task loss f of each layer's output, one number a cell (METHOD 1.6)."""

from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


def squared_error(
    estimate: Float[Tensor, "cells batch *parts pixels"],
    clean: Float[Tensor, "#cells batch *parts pixels"],
    patch_loss: Literal["sum", "mean"] = "sum",
) -> Float[Tensor, " cells"]:
    """Mean over sequences and tokens of |s - s_hat|^2, in the units of the model's answers.

    Args:
        patch_loss: the squared norm summed over a patch's pixels (the paper's R0 fits no other) or averaged.
    """
    error = (estimate.float() - clean).square().flatten(1).mean(1)
    return error * estimate.shape[-1] if patch_loss == "sum" else error


def denoising_losses(
    model: nn.Module,
    noisy: Float[Tensor, "cells batch *parts pixels"],
    clean: Float[Tensor, "#cells batch *parts pixels"],
    patch_loss: Literal["sum", "mean"] = "sum",
) -> Float[Tensor, "cells depth"]:
    """f_0 ... f_L: the squared error of every layer's output, from one forward."""
    target = model.target(clean)
    layers = [squared_error(model.readout(state), target, patch_loss) for state in model.states(noisy)]
    return torch.stack(layers, dim=1)


def text_losses(
    logits: Float[Tensor, "cells depth batch classes"], labels: Int64[Tensor, " batch"]
) -> Float[Tensor, "cells depth batch"]:
    """f_0 ... f_L of each text: cross-entropy in nats of every layer's output."""
    targets = labels.expand(logits.shape[:-1])
    return cross_entropy(logits.float().flatten(0, 2), targets.flatten(), reduction="none").view(targets.shape)
