"""The descent constraints of problem (2), on batch means (METHOD 1.1)."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import PrimalDual


def violations(f: Float[Tensor, "cells depth"], problem: PrimalDual) -> Float[Tensor, "cells depth"]:
    """v_l, at most zero where layer l does what it must; entry l belongs to layer l = 0..L.

    v_k = f_k - R0                     the cap on the initial value, k = cap_layer
    v_l = f_l - (1 - alpha) f_{l-1}    descent, l > k
    v_l = 0                            below the cap

    The difference of means is linear in f, hence unbiased under mini-batches; with `constraint: ratio` both
    are divided by their reference instead, v_k = f_k / R0 - 1 and v_l = f_l / f_{l-1} - (1 - alpha).
    """
    k = problem.cap_layer
    previous = f[:, k:-1] if problem.through_previous else f[:, k:-1].detach()
    if problem.constraint == "difference":
        cap, descents = f[:, k : k + 1] - problem.R0, f[:, k + 1 :] - (1 - problem.alpha) * previous
    else:
        cap, descents = f[:, k : k + 1] / problem.R0 - 1, f[:, k + 1 :] / previous - (1 - problem.alpha)
    return torch.cat([torch.zeros_like(f[:, :k]), cap, descents], dim=1)


def relative_violations(f: Float[Tensor, "cells depth"], problem: PrimalDual) -> Float[Tensor, "cells depth"]:
    """v_l as a share of its reference, f_k / R0 - 1 and f_l / f_{l-1} - (1 - alpha): what feasibility reads."""
    return violations(f, problem.model_copy(update={"constraint": "ratio"}))
