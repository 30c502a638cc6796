"""A quadratic penalty on the violations: the fixed point of dual weight decay, without duals."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.primal_dual.constraints import Continuation, relative_violations, violations
from descent.primal_dual.lagrangian import objective
from descent.primal_dual.problem import Problem
from descent.training.arm import Base, columns

LABEL = "penalty"
ENFORCES = False  # it pays for a violation, and is not asked to have none
ALL_LAYERS = True
COLUMNS = ("alpha", "R0", "rho")


class Settings(Problem):
    """The constrained arm's problem, of which all counts but what moves duals and slacks."""


class Arm(Base):
    """Minimise f_L + rho / 2 sum_l [v_l]_+^2, with logarithms log f_L in place of f_L.

    With weight decay the multipliers have their maximum at lambda = rho [v]_+, where the Lagrangian less what the
    decay takes, |lambda|^2 / (2 rho), is this.
    """

    recordable = True

    def __init__(self, settings: list[Settings], layers: int, device: torch.device) -> None:
        self.continuation = Continuation(columns(settings, COLUMNS, device), device)
        self.problem = self.continuation.problem
        self.warmup_epochs = self.problem.warmup_epochs

    def begin_epoch(self, done: float) -> None:
        """Set the margin that is in force."""
        self.continuation.begin_epoch(done)

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """The penalised loss, or what it is built on during the warm-up."""
        plain = objective(f, self.problem)
        if epoch < self.warmup_epochs:
            return plain
        # Where all constraints hold this is ERM, gradient and all: nothing remembers a violation, as a dual would.
        return plain + (self.problem.rho / 2 * violations(f, self.problem).clamp(min=0).square()).sum(1)

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """How far the constraints are missed."""
        return {
            "violation_train": relative_violations(f, self.problem),
            "violation_validation": relative_violations(held_out, self.problem),
        }
