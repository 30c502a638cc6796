"""The multipliers lambda: projected dual ascent (Algorithm 1, eq. (38))."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.primal_dual.problem import Problem


class NuPI(torch.optim.Optimizer):
    """The nuPI controller (Sohrabi et al. 2024), ascending: x <- x + e_t + K_P (xi_t - xi_{t-1}).

    xi_t = nu xi_{t-1} + (1 - nu) e_t with xi_{-1} = e_0, so that the first step is that of plain ascent. With
    K_P = 0 every step is; the proportional term answers the trend of a violation and damps what would swing.
    """

    def __init__(self, params: list[Tensor], gain: float, smoothing: float) -> None:
        super().__init__(params, {"lr": 1.0, "gain": gain, "smoothing": smoothing})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """One step with the errors in `grad`."""
        for group in self.param_groups:
            for value in group["params"]:
                error = value.grad
                state = self.state[value]
                if not state:
                    state["smoothed"] = error.clone()
                before = state["smoothed"]
                after = torch.lerp(error, before, group["smoothing"])
                value += group["lr"] * (error + group["gain"] * (after - before))
                before.copy_(after)


class Multipliers:
    """lambda >= 0, zero at the start, one per cell and layer.

    lambda <- [lambda + step(gap)]_+   with gap = v - u, the mean of the last `dual_every` batches
    lambda <- [lambda + step(gap - lambda / rho)]_+   with `resilience: decay` (eq. (38))

    The step is Adam's (the paper's), plain ascent's or nuPI's. The decay is inside the gradient, as a coupled
    weight_decay: AdamW's decoupled one has its fixed point at rho whatever the violation, and must not be used
    here. It and the rate are ours, not the optimizer's, because they may differ from cell to cell; a step of each
    is linear in its rate.
    """

    def __init__(self, shape: tuple[int, int], problem: Problem, device: torch.device) -> None:
        self.value = torch.zeros(shape, device=device, requires_grad=True)
        self.lr = problem.dual_lr
        self.decay = 1 / problem.rho if problem.resilience == "decay" else 0.0
        self.optimizer = _optimizer(self.value, problem)
        self.every, self.seen = problem.dual_every, 0
        self.gap = torch.zeros(shape, device=device)

    def ascend(self, gap: Float[Tensor, "cells depth"], alive: Bool[Tensor, " cells"]) -> None:
        """Count one batch's gap; every `dual_every` batches, step and project. Frozen cells stay put."""
        self.gap += torch.where(alive[:, None], gap, 0.0)  # a lost cell's is no number, and would stay in the sum
        self.seen += 1
        if self.seen < self.every:
            return
        before = self.value.data.clone()  # the step is made at rate 1, and then shortened to each cell's own
        self.value.grad = self.gap / self.seen - self.decay * before
        self.optimizer.step()
        after = (before + self.lr * (self.value.data - before)).clamp(min=0)
        # Without a gap a frozen cell's value would still drift with Adam's momentum.
        self.value.data.copy_(torch.where(alive[:, None], after, before))
        self.gap.zero_()
        self.seen = 0

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


def _optimizer(value: Tensor, problem: Problem) -> torch.optim.Optimizer:
    if problem.dual_optimizer == "nupi":
        return NuPI([value], problem.nupi_gain, problem.nupi_smoothing)
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[problem.dual_optimizer]
    return kind([value], lr=1.0, maximize=True, fused=True)
