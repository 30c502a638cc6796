"""The multipliers lambda: projected dual ascent (Algorithm 1, eq. (38))."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.schema import PrimalDual


class Multipliers:
    """lambda >= 0, zero at the start, one per cell and layer.

    lambda <- [lambda + Adam(gap)]_+   with gap = v - u, the mean of the last `dual_every` batches
    lambda <- [lambda + Adam(gap - lambda / rho)]_+   with `resilience: decay` (eq. (38))

    The decay is inside Adam's gradient, as its coupled weight_decay: AdamW's decoupled one has its fixed point at
    rho whatever the violation, and must not be used here. It and the rate are ours, not the optimizer's, because
    they may differ from cell to cell; a step of Adam and of SGD is linear in its rate.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        lr: float | Float[Tensor, "cells 1"],
        problem: PrimalDual,
        device: torch.device,
    ) -> None:
        self.value = torch.zeros(shape, device=device, requires_grad=True)
        self.lr, self.decay = lr, 1 / problem.rho if problem.resilience == "decay" else 0.0
        kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[problem.dual_optimizer]
        self.optimizer = kind([self.value], lr=1.0, maximize=True)
        self.every, self.seen = problem.dual_every, 0
        self.gap = torch.zeros(shape, device=device)

    def ascend(self, gap: Float[Tensor, "cells depth"], alive: Bool[Tensor, " cells"]) -> None:
        """Count one batch's gap; every `dual_every` batches, step and project. Frozen cells stay put."""
        self.gap += torch.where(alive[:, None], gap, 0.0)
        self.seen += 1
        if self.seen < self.every:
            return
        before = self.value.data.clone()
        self.value.grad = self.gap / self.seen - self.decay * before
        self.optimizer.step()
        after = (before + self.lr * (self.value.data - before)).clamp(min=0)
        # Without a gap a frozen cell's value would still drift with Adam's momentum.
        self.value.data = torch.where(alive[:, None], after, before)
        self.gap, self.seen = torch.zeros_like(self.gap), 0

    def state_dict(self) -> dict:
        """All that a resumed run needs to go on bit for bit."""
        return {
            "value": self.value.data,
            "gap": self.gap,
            "seen": self.seen,
            "optimizer": self.optimizer.state_dict(),
        }

    def load_state_dict(self, state: dict) -> None:
        """The inverse of state_dict."""
        self.value.data.copy_(state["value"])
        self.gap.copy_(state["gap"])
        self.seen = state["seen"]
        self.optimizer.load_state_dict(state["optimizer"])
