"""Algorithm 1: primal-dual training under descent constraints, relaxed by slacks or dual weight decay."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.primal_dual.constraints import Continuation, relative_violations, violations
from descent.primal_dual.lagrangian import lagrangian, objective
from descent.primal_dual.multipliers import Multipliers
from descent.primal_dual.problem import Problem
from descent.primal_dual.resilience import Slacks
from descent.training.arm import Base, columns

LABEL = "constrained"
ENFORCES = True
ALL_LAYERS = True
COLUMNS = ("alpha", "R0", "rho", "dual_lr")  # may differ between the cells of a stack


class Settings(Problem):
    """The constrained problem and its duals."""


class Arm(Base):
    """Algorithm 1: minimise the Lagrangian over the weights, ascend in lambda, descend in u.

    Per batch, from the same forward: v = violations(f); the weights step on f_L + lambda v, with logarithms on
    log f_L + lambda v; then, both from the old (lambda, u) and by the optimisers that the settings name, of which
    the paper's is Adam,

    resilience   u                                   lambda
    slacks       u <- [u - step(rho u - lambda)]_+   lambda <- [lambda + step(v - u)]_+
    decay        u = 0                               lambda <- [lambda + step(v - lambda / rho)]_+
    none         u = 0                               lambda <- [lambda + step(v)]_+

    With `margin_start` a tighter problem comes first (primal_dual.constraints).
    With `dual_mean` the duals look at a running mean of f, since a ratio of batch means is biased.
    During the `warmup_epochs` the weights step on f_L alone (of logarithms on log f_L) and the duals rest.
    """

    def __init__(self, settings: list[Settings], layers: int, device: torch.device) -> None:
        """Of a stack: one problem whose alpha, R0, rho and dual_lr are tensors (cells, 1), a row a cell."""
        self.continuation = Continuation(columns(settings, COLUMNS, device), device)
        self.problem = problem = self.continuation.problem
        self.warmup_epochs = problem.warmup_epochs
        shape = (len(settings), layers + 1)
        self.multipliers = Multipliers(shape, problem, device)
        self.slacks = Slacks(shape, problem, device)
        # Of the newest primal step, whose forward the duals look at.
        self.f, self.v = torch.zeros(shape, device=device), torch.zeros(shape, device=device)
        self.mean = torch.zeros(shape, device=device)
        self.seen = torch.zeros((), dtype=torch.float64, device=device)
        # Sums over the steps of an epoch, and how many these were.
        self.multiplier_sum, self.weight_sum = torch.zeros_like(self.mean), torch.zeros_like(self.mean)
        self.steps = torch.zeros((), device=device)
        self.recordable = problem.dual_every == 1
        self.optimizers = self.multipliers.optimizer, self.slacks.optimizer

    def begin_epoch(self, done: float) -> None:
        """Set the margin that is in force."""
        self.continuation.begin_epoch(done)

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """The Lagrangian (5), or what it is built on during the warm-up."""
        if epoch < self.warmup_epochs:
            return objective(f, self.problem)
        self.f = f
        if f.requires_grad:
            f.retain_grad()  # what the step finds there is w = dL / df
        v = violations(f, self.problem)
        self.v = v.detach()
        return lagrangian(f, v, self.multipliers.value, self.problem)

    def update(self, again: Callable[[], Tensor], alive: Bool[Tensor, " cells"], epoch: int) -> None:
        """The dual half of the step, after the weights moved.

        Args:
            again: evaluates f on the same batch with the new weights (`dual_forward: fresh`).
            alive: cells that have not diverged; the others' multipliers rest.
            epoch: counts from 0.
        """
        if epoch < self.warmup_epochs:
            return
        v, fresh = self.v, self.problem.dual_forward == "fresh"
        if fresh or self.problem.dual_mean:
            f = again() if fresh else self.f.detach()
            v = self._of_mean(f) if self.problem.dual_mean else violations(f, self.problem)
        self._record()
        gap = v - self.slacks.value.data  # of the old u: both halves of a dual step start from the same point
        self.slacks.descend(self.multipliers.value)
        self.multipliers.ascend(gap, alive)

    def _record(self) -> None:
        """The multipliers and the effective weights w_l = dL / df_l of the step that was made.

        The Lagrangian is deep supervision with learned weights: of the difference form w_L = 1 + lambda_L and
        w_l = lambda_l - (1 - alpha - margin) lambda_{l+1}, or lambda_l alone without `through_previous`; of the
        others the derivative at f, of the logarithms' in units of f_L. Where w_l < 0 the gradient raises f_l, the
        inflation that only R0 stops.
        """
        scale = self.f.detach()[:, -1:] if self.problem.constraint == "log" else 1.0
        self.steps += 1
        self.multiplier_sum += self.multipliers.value.detach()
        if self.f.grad is not None:
            self.weight_sum += scale * self.f.grad
        self.f = self.f.detach()  # or what autograd made of this step would stay until the next

    def _of_mean(self, f: Float[Tensor, "cells depth"]) -> Float[Tensor, "cells depth"]:
        """The violations of the running mean of f, corrected for its start at zero as Adam's moments are."""
        decay = self.problem.dual_mean
        self.mean.copy_(torch.lerp(f, self.mean, decay))
        self.seen += 1
        return violations(self.mean / (1 - decay**self.seen), self.problem)

    def worst(self, f: Float[Tensor, "cells depth"]) -> Float[Tensor, " cells"]:
        """The largest relative violation of each cell."""
        return relative_violations(f, self.problem)[:, self.problem.cap_layer :].amax(1)

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """What the history logs beside the losses, of the epoch's end; then the slacks start again."""
        steps = self.steps.clamp(min=1)
        last = torch.zeros_like(f)
        last[:, -1] = self.steps == 0  # in the warm-up the weights are ERM's
        log = {
            "violation_train": relative_violations(f, self.problem),
            "violation_validation": relative_violations(held_out, self.problem),
            "multiplier": self.multipliers.value.detach().clone(),
            "multiplier_mean": self.multiplier_sum / steps,
            "slack": self.slacks.value.detach().clone(),
            "weight_mean": self.weight_sum / steps + last,
        }
        self.slacks.restart()
        for own in (self.multiplier_sum, self.weight_sum, self.steps):
            own.zero_()
        return log

    def state_dict(self) -> dict:
        """All that a resumed run needs to go on bit for bit."""
        parts = {"multipliers": self.multipliers.state_dict(), "slacks": self.slacks.state_dict()}
        return parts | {"mean": self.mean, "seen": self.seen}

    def load_state_dict(self, state: dict) -> None:
        """The inverse of state_dict."""
        self.multipliers.load_state_dict(state["multipliers"])
        self.slacks.load_state_dict(state["slacks"])
        self.mean.copy_(state["mean"])
        self.seen.copy_(state["seen"])
