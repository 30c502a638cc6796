"""The Lagrangian (5) and what it does to the gradient."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import PrimalDual


def lagrangian(
    f: Float[Tensor, "cells depth"],
    v: Float[Tensor, "cells depth"],
    multipliers: Float[Tensor, "cells depth"],
) -> Float[Tensor, " cells"]:
    """L = f_L + sum_l lambda_l v_l, one number a cell; the slacks' terms have no gradient in the weights."""
    return f[:, -1] + (multipliers.detach() * v).sum(1)


def effective_weights(
    multipliers: Float[Tensor, "cells depth"], problem: PrimalDual
) -> Float[Tensor, "cells depth"]:
    """w_l with L = sum_l w_l f_l + const: w_L = 1 + lambda_L, w_l = lambda_l - (1 - alpha) lambda_{l+1}.

    The Lagrangian is deep supervision with learned weights; where w_l < 0 the gradient *raises* f_l, the
    inflation that only R0 stops. Exact for the difference form; nothing below the cap carries weight.
    """
    following = torch.zeros_like(multipliers)
    following[:, problem.cap_layer : -1] = multipliers[:, problem.cap_layer + 1 :]
    weights = multipliers - (1 - problem.alpha) * following
    weights[:, -1] += 1
    return weights
