"""The task loss f of one layer's output, one number a cell (METHOD 1.6)."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor


def squared_error(
    estimate: Float[Tensor, "cells batch tokens pixels"],
    clean: Float[Tensor, "#cells batch tokens pixels"],
    patch_loss: Literal["sum", "mean"] = "sum",
) -> Float[Tensor, " cells"]:
    """Mean over sequences and tokens of |s - s_hat|^2, summed (or averaged) over a patch's pixels in [0, 1]."""
    error = (estimate.float() - clean).square().mean(dim=(1, 2, 3))
    return error * estimate.shape[-1] if patch_loss == "sum" else error
