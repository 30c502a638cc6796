"""The hyperparameters that may differ between the cells of one stack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from descent.schema import PrimalDual


@dataclass(frozen=True)
class Setting:
    """How one cell is trained; without a problem it is unconstrained and has no dual rate."""

    lr: float
    dual_lr: float | None = None
    problem: PrimalDual | None = None

    def definition(self) -> dict[str, Any]:
        """As plain data, for fingerprints and records."""
        problem = self.problem.model_dump() if self.problem else None
        return {"lr": self.lr, "dual_lr": self.dual_lr, "problem": problem}

    def alike(self) -> tuple:
        """What cells of one stack must have in common: all but the numbers that `together` makes columns of."""
        problem = self.problem and self.problem.model_copy(update={"alpha": 0.0, "R0": 1.0, "rho": 1.0})
        return self.lr, problem

    @classmethod
    def recorded(cls, definition: dict[str, Any]) -> "Setting":
        """The inverse of `definition`."""
        problem = definition["problem"]
        return cls(**definition | {"problem": PrimalDual.model_validate(problem) if problem else None})


def together(settings: Sequence[Setting], device: torch.device) -> tuple[PrimalDual, torch.Tensor]:
    """The constrained problem and the dual rates of a stack.

    Returns:
        A problem whose alpha, R0 and rho are tensors (cells, 1), one number a cell (the formulas read the same),
        and the dual learning rates (cells, 1). Everything else of the problem is the first cell's.
    """

    def column(numbers: Sequence[float]) -> torch.Tensor:
        return torch.tensor(numbers, device=device)[:, None]

    problems = [setting.problem for setting in settings]
    numbers = {name: column([getattr(p, name) for p in problems]) for name in ("alpha", "R0", "rho")}
    return problems[0].model_copy(update=numbers), column([setting.dual_lr for setting in settings])
