"""A tighter problem first: a continuation of the constrained problem in its margin.

The problem has local minima. A tighter one may exclude some of them; its own minimum, followed as the margin
shrinks, then ends in another one of the problem that is asked.
"""

import torch

from descent.primal_dual.problem import Problem

HELD, ENDED = 0.6, 0.95  # shares of the training: until when the first margin is asked, and from when on the last


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
        """Set the margin that is in force where this share of the training is done."""
        self.problem.margin.fill_(margin(self.asked, done))
