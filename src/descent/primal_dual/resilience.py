"""The slacks u and their price h(u) = rho/2 |u|^2 (eq. (34)-(36)): constraints relaxed where they cost most."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.primal_dual.problem import Problem


class Slacks:
    """u >= 0, zero at the start; the constraints become v_l <= u_l.

    u <- [u - step(rho u - lambda)]_+   and u <- 0 after every epoch with `restart`.

    Without explicit slacks (`resilience: decay | none`) u stays zero: eliminating u = lambda / rho from (36)
    gives the decayed dual step (38), which is the multipliers' business.
    """

    def __init__(self, shape: tuple[int, int], problem: Problem, device: torch.device) -> None:
        self.value = torch.zeros(shape, device=device, requires_grad=True)
        self.problem = problem
        self.optimizer = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[problem.slack_optimizer](
            [self.value], lr=problem.slack_lr, fused=True
        )

    def descend(self, multipliers: Float[Tensor, "cells depth"]) -> None:
        """One projected step on h(u) - lambda u, whose minimum is u = lambda / rho; Adam's step may pass it."""
        if self.problem.resilience != "slacks":
            return
        # h'(u) = rho u against lambda: a slack grows where holding the constraint costs more than relaxing it.
        self.value.grad = self.problem.rho * self.value.data - multipliers.detach()
        self.optimizer.step()
        self.value.data.clamp_(min=0)

    def restart(self) -> None:
        """u <- 0: relaxations start large and shrink slowly; starting again finds tighter solutions (B.2)."""
        if not self.problem.restart:
            return
        self.value.data.zero_()
        if self.problem.reset_moments:  # else the first step replays the old direction
            for moments in self.optimizer.state.values():
                for moment in moments.values():
                    moment.zero_()

    def state_dict(self) -> dict:
        """All that a resumed run needs to go on bit for bit."""
        return {"value": self.value.data, "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """The inverse of state_dict."""
        self.value.data.copy_(state["value"])
        self.optimizer.load_state_dict(state["optimizer"])
