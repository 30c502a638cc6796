"""The descent constraints of problem (4), which the paper's text calls (2), on batch means, in three forms with
the same feasible set; and how strictly they are asked for at first.

That is a continuation of the problem in its margin. The problem has local minima. A tighter one may exclude some
of them; its own minimum, followed as the margin shrinks, then ends in another one of the problem that is asked.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.primal_dual.problem import Problem

HELD, ENDED = 0.6, 0.95  # shares of the training: until when the first margin is asked, and from when on the last


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


def margin(problem: Problem, done: float) -> float:
    """The margin in force where this share of the training is done.

    `margin_start` where that is more than `margin`, and from HELD to ENDED linearly down to it; else `margin`
    throughout.
    """
    more = max(problem.margin_start - problem.margin, 0.0)
    left = (ENDED - done) / (ENDED - HELD)
    return problem.margin + more * min(max(left, 0.0), 1.0)


class Continuation:
    """The problem in force: its margin is a tensor, changed in place, since what a GPU replays reads it there."""

    def __init__(self, asked: Problem, device: torch.device) -> None:
        self.asked = asked
        self.problem = asked.model_copy(update={"margin": torch.tensor(margin(asked, 0.0), device=device)})

    def begin_epoch(self, done: float) -> None:
        """Set the margin that is in force where this share of the training is done; it is that of the epoch's end,
        so that with few epochs the larger one is held for less than HELD says."""
        self.problem.margin.fill_(margin(self.asked, done))
