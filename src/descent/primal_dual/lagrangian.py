"""The Lagrangian (5)."""

from jaxtyping import Float
from torch import Tensor

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
    """L = objective(f) + sum_l lambda_l v_l, one number a cell; slacks' terms have no gradient in the weights."""
    # To the weights the multipliers are constants; what moves these is their own ascent.
    return objective(f, problem) + (multipliers.detach() * v).sum(1)
