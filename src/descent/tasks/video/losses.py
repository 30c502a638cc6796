"""The task loss f of each layer's output, one number a cell: the squared error (section 5.1)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.tasks.video.schema import PatchLoss


def squared_error(
    estimate: Float[Tensor, "cells batch *parts pixels"],
    clean: Float[Tensor, "#cells batch *parts pixels"],
    patch_loss: PatchLoss = "sum",
) -> Float[Tensor, " cells"]:
    """Mean over sequences and tokens of |s - s_hat|^2, in the units of the model's answers.

    Args:
        patch_loss: the squared norm summed over a patch's pixels (the paper's R0 fits no other) or averaged.
    """
    # In float32, whatever the model computed in: a layer's loss may be a thousandth of the one before.
    error = (estimate.float() - clean).square().flatten(1).mean(1)
    return error * estimate.shape[-1] if patch_loss == "sum" else error


def denoising_losses(
    model: nn.Module,
    noisy: Float[Tensor, "cells batch *parts pixels"],
    clean: Float[Tensor, "#cells batch *parts pixels"],
    patch_loss: PatchLoss = "sum",
) -> Float[Tensor, "cells depth"]:
    """f_0 ... f_L: the squared error of every layer's output, from one forward."""
    target = model.target(clean)
    layers = [squared_error(model.readout(state), target, patch_loss) for state in model.states(noisy)]
    return torch.stack(layers, dim=1)
