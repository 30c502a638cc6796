"""The descent constraints of problem (4), which the paper's text calls (2), on batch means, in three forms with
the same feasible set."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.primal_dual.problem import Problem


def violations(f: Float[Tensor, "cells depth"], problem: Problem) -> Float[Tensor, "cells depth"]:
    """v_l, at most zero where layer l does what it must; entry l belongs to layer l = 0..L, k = cap_layer.

    constraint   the cap on the initial value   descent, l > k
    difference   v_k = f_k - R0                 v_l = f_l - (1 - alpha) f_{l-1}
    ratio        v_k = f_k / R0 - 1             v_l = f_l / f_{l-1} - (1 - alpha)
    log          v_k = log(f_k / R0)            v_l = log(f_l / f_{l-1} / (1 - alpha))

    v_l = 0 below the cap; with a margin m, alpha + m stands for alpha and R0 (1 - m) for R0. The difference of
    means is linear in f, hence unbiased under mini-batches; the two others have no scale: a multiplier means the
    same at every layer though losses differ by a factor of a hundred.
    """
    k = problem.cap_layer
    # Detached, a layer could not meet its constraint by making the one before it worse.
    previous = f[:, k:-1] if problem.through_previous else f[:, k:-1].detach()
    first = f[:, k : k + 1]
    following = f[:, k + 1 :]
    keep = 1 - problem.alpha - problem.margin
    most = problem.R0 * (1 - problem.margin)
    if problem.constraint == "difference":
        cap = first - most
        descents = following - keep * previous
    elif problem.constraint == "ratio":
        cap = first / most - 1
        descents = following / previous - keep
    else:
        cap = (first / most).log()
        descents = (following / previous / keep).log()
    # Zeros below the cap, so that entry l is layer l's wherever the cap stands.
    return torch.cat([torch.zeros_like(f[:, :k]), cap, descents], dim=1)


def relative_violations(f: Float[Tensor, "cells depth"], problem: Problem) -> Float[Tensor, "cells depth"]:
    """v_l as a share of its reference, f_k / R0 - 1 and f_l / f_{l-1} - (1 - alpha): what feasibility reads."""
    return violations(f, problem.model_copy(update={"constraint": "ratio", "margin": 0.0}))
