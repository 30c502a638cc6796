"""The Lagrangian (5) and what it does to the gradient."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.primal_dual.constraints import violations
from descent.primal_dual.problem import Problem


def objective(f: Float[Tensor, "cells depth"], problem: Problem) -> Float[Tensor, " cells"]:
    """What is minimised under the constraints: f_L, or log f_L where the constraints are of logarithms."""
    return f[:, -1].log() if problem.constraint == "log" else f[:, -1]


def lagrangian(
    f: Float[Tensor, "cells depth"],
    v: Float[Tensor, "cells depth"],
    multipliers: Float[Tensor, "cells depth"],
    problem: Problem,
) -> Float[Tensor, " cells"]:
    """L = f_L + sum_l lambda_l v_l, one number a cell; the slacks' terms have no gradient in the weights."""
    return objective(f, problem) + (multipliers.detach() * v).sum(1)


def effective_weights(
    multipliers: Float[Tensor, "cells depth"], f: Float[Tensor, "cells depth"], problem: Problem
) -> Float[Tensor, "cells depth"]:
    """w_l = dL / df_l in units of the objective's own: the Lagrangian is deep supervision with learned weights.

    Of the difference form w_L = 1 + lambda_L and w_l = lambda_l - (1 - alpha) lambda_{l+1}, whatever f; of the
    others the derivative at f. Where w_l < 0 the gradient *raises* f_l, the inflation that only R0 stops.
    """
    at = f.detach().clone().requires_grad_()
    with torch.enable_grad():
        whole = lagrangian(at, violations(at, problem), multipliers, problem).sum()
    (slopes,) = torch.autograd.grad(whole, at)
    return slopes * at.detach()[:, -1:] if problem.constraint == "log" else slopes
