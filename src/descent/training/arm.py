"""What the loop asks of an arm: what is minimised, and what follows the step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.components import load
from descent.schema import Schema


class Base:
    """An arm with nothing to enforce and nothing to remember, of a stack of cells; arms replace what they need."""

    warmup_epochs = 0  # at the start, in which nothing is enforced; their weights are never reported
    # Whether all steps, but for those of the warm-up, are alike whatever the epoch, and change in place on the
    # device what they change: a GPU may replay them then.
    recordable = False
    optimizers: Sequence[torch.optim.Optimizer] = ()  # of its own, beside that of the weights

    def begin_epoch(self, done: float) -> None:
        """Told before each epoch which share of the training will be done at its end; of the last one 1."""

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """What the weights descend on, from the layer losses f_0 ... f_L of one batch; epochs count from 0."""
        raise NotImplementedError

    def watched(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, "cells watched"]:
        """The layer losses that tell whether a cell diverged: all, unless an arm looks at fewer; in the warm-up,
        in which nothing is asked of the others, f_L alone as of ERM's cells."""
        return f[:, -1:] if epoch < self.warmup_epochs else f

    def update(self, again: Callable[[], Tensor], alive: Bool[Tensor, " cells"], epoch: int) -> None:
        """What follows the weights' step.

        Args:
            again: evaluates f on the same batch with the new weights.
            alive: cells that have not diverged; the duals of the others rest.
        """

    def worst(self, f: Float[Tensor, "cells depth"]) -> Float[Tensor, " cells"]:
        """The largest relative violation of each cell; zero where nothing is required."""
        return torch.zeros_like(f[:, 0])

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """What the history logs beside the losses, of the epoch's end."""
        return {}

    def state_dict(self) -> dict:
        """All that a resumed run needs to go on bit for bit."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """The inverse of state_dict."""


def ranged(arm: str) -> bool:
    """Whether an arm trains on noise levels drawn from [0, eps], one an input, and not on eps itself."""
    return getattr(load("arms", arm), "NOISE", "fixed") == "range"


@dataclass(frozen=True)
class Setting:
    """How one cell trains: its arm, by name, the arm's settings, and the learning rate of the weights."""

    arm: str
    lr: float
    values: Schema

    def definition(self) -> dict[str, Any]:
        """As plain data, for fingerprints and records."""
        return {"arm": self.arm, "lr": self.lr, "values": self.values.model_dump()}

    def alike(self) -> tuple:
        """What cells of one stack must have in common: all but the numbers that the arm makes columns of."""
        columns = getattr(load("arms", self.arm), "COLUMNS", ())
        return self.arm, self.lr, self.values.model_dump_json(exclude=set(columns))

    @classmethod
    def recorded(cls, definition: dict[str, Any]) -> "Setting":
        """The inverse of `definition`."""
        schema = load("arms", definition["arm"]).Settings
        return cls(definition["arm"], definition["lr"], schema.model_validate(definition["values"]))


def columns(values: list[Schema], names: tuple[str, ...], device: torch.device) -> Schema:
    """The settings of a stack as one: those named are tensors (cells, 1), one number a cell, the rest the first's.

    Formulas read the same for a number and for a column.
    """
    numbers = {name: torch.tensor([getattr(v, name) for v in values], device=device)[:, None] for name in names}
    return values[0].model_copy(update=numbers)
