"""The two arms of every comparison, with one face: what is minimised, and what happens after the step."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.primal_dual.constraints import relative_violations, violations
from descent.primal_dual.lagrangian import effective_weights, lagrangian
from descent.primal_dual.multipliers import Multipliers
from descent.primal_dual.resilience import Slacks
from descent.schema import PrimalDual


class ERM:
    """Unconstrained: minimise f_L (eq. (3)); nothing to enforce."""

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """f_L."""
        return f[:, -1]

    def update(self, again: Callable[[], Tensor], alive: Bool[Tensor, " cells"], epoch: int) -> None:
        """No duals."""

    def worst(self, f: Float[Tensor, "cells depth"]) -> Float[Tensor, " cells"]:
        """Nothing is required, nothing is missed."""
        return torch.zeros_like(f[:, 0])

    def end_epoch(self, f: Tensor, held_out: Tensor) -> dict[str, Float[Tensor, "cells depth"]]:
        """What the history logs beside the losses: nothing."""
        return {}

    def state_dict(self) -> dict:
        """Nothing to resume."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Nothing to resume."""


class Constrained:
    """Algorithm 1: minimise the Lagrangian over the weights, ascend in lambda, descend in u.

    Per batch, from the same forward: v = violations(f); the weights step on f_L + lambda v; then
    u <- [u - Adam(rho u - lambda)]_+ and lambda <- [lambda + Adam(v - u)]_+, both from the old (lambda, u).
    During the `warmup_epochs` the weights step on f_L alone and the duals rest.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        lr: float | Float[Tensor, "cells 1"],
        problem: PrimalDual,
        device: torch.device,
    ) -> None:
        self.problem = problem
        self.multipliers = Multipliers(shape, lr, problem, device)
        self.slacks = Slacks(shape, problem, device)
        self.v = torch.zeros(shape, device=device)

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """The Lagrangian (5), or f_L during the warm-up."""
        if epoch < self.problem.warmup_epochs:
            return f[:, -1]
        v = violations(f, self.problem)
        self.v = v.detach()
        return lagrangian(f, v, self.multipliers.value)

    def update(self, again: Callable[[], Tensor], alive: Bool[Tensor, " cells"], epoch: int) -> None:
        """The dual half of the step, after the weights moved.

        Args:
            again: evaluates f on the same batch with the new weights (`dual_forward: fresh`).
            alive: cells that have not diverged; the others' duals rest.
            epoch: counts from 0.
        """
        if epoch < self.problem.warmup_epochs:
            return
        v = violations(again(), self.problem) if self.problem.dual_forward == "fresh" else self.v
        gap = v - self.slacks.value.data
        self.slacks.descend(self.multipliers.value)
        self.multipliers.ascend(gap, alive)

    def worst(self, f: Float[Tensor, "cells depth"]) -> Float[Tensor, " cells"]:
        """The largest relative violation of each cell."""
        return relative_violations(f, self.problem)[:, self.problem.cap_layer :].amax(1)

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """What the history logs beside the losses, of the epoch's end; then the slacks start again."""
        multipliers = self.multipliers.value.detach().clone()
        log = {
            "violation_train": relative_violations(f, self.problem),
            "violation_validation": relative_violations(held_out, self.problem),
            "multiplier": multipliers,
            "slack": self.slacks.value.detach().clone(),
            "weight": effective_weights(multipliers, self.problem),
        }
        self.slacks.restart()
        return log

    def state_dict(self) -> dict:
        """All that a resumed run needs to go on bit for bit."""
        return {"multipliers": self.multipliers.state_dict(), "slacks": self.slacks.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """The inverse of state_dict."""
        self.multipliers.load_state_dict(state["multipliers"])
        self.slacks.load_state_dict(state["slacks"])
