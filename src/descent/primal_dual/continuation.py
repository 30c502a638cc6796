"""Descent that is asked for more strictly at first: a continuation of problem (4) in its margin.

The problem has many local minima. Layers that come to rest are one; a tighter problem may exclude these and lead
training to others, which its own minimum then follows, as the margin shrinks, to one of the problem that is asked.
"""

from descent.primal_dual.problem import Problem

HELD, ENDED = 0.6, 0.95  # shares of the training: until when the first margin is asked, and from when on the last


def margin(problem: Problem, done: float) -> float:
    """The margin in force after this share of the training.

    `margin_start` where that is more than `margin`, and from HELD to ENDED linearly down to it; else `margin`
    throughout.
    """
    more = max(problem.margin_start - problem.margin, 0.0)
    left = (ENDED - done) / (ENDED - HELD)
    return problem.margin + more * min(max(left, 0.0), 1.0)
