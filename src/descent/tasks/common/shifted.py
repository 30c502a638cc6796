"""The shifts of params.yaml as functions, and the levels at which each is applied."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.components import TRAINED, load
from descent.config import Params
from descent.errors import UserError
from descent.runner.fingerprint import digest
from descent.schema import Shift, validated
from descent.training.noise import Stream


@dataclass(frozen=True)
class Shifted:
    """A shift with its settings: from clean inputs, a level a cell, random numbers and sigma to shifted inputs."""

    name: str
    settings: Shift

    @property
    def module(self) -> ModuleType:
        """The shift's file; not kept, since stacks and their shifts are sent to other processes."""
        return load("shifts", self.name)

    def __call__(
        self, clean: Tensor, level: Tensor, stream: Stream, scale: float | Tensor, **told: Tensor
    ) -> Tensor:
        """What the shift's file says; `told` is what it asks for beside these (`told`)."""
        return self.module.apply(clean, level, stream, scale, settings=self.settings, **told)

    def told(
        self,
        clean: Float[Tensor, "#cells batch tokens width"],
        real: Bool[Tensor, "batch tokens"],
        cells: int,
        loss: Callable[[Tensor], Tensor],
    ) -> dict[str, Tensor]:
        """What a shift is told beside the inputs: nothing, where it says REAL which tokens are no padding, where
        it says GRADIENT that of the models that it is applied to.

        Args:
            loss: the sum of the cells' losses; that of each depends on its own inputs alone.
        """
        if getattr(self.module, "REAL", False):
            return {"real": real}
        if not getattr(self.module, "GRADIENT", False):
            return {}
        with torch.enable_grad():
            inputs = clean.detach().expand(cells, *clean.shape[1:]).clone().requires_grad_()
            (gradient,) = torch.autograd.grad(loss(inputs), inputs)
        return {"gradient": gradient}

    @property
    def of_words(self) -> Callable[[list[str], float, np.random.Generator], list[str]]:
        """What a shift that sees words makes of those of a text; to be asked for once, and not for every text."""
        return partial(self.module.apply, settings=self.settings)

    @property
    def sees(self) -> str:
        """What it is handed: numbers (in any arrangement), pictures, sequences with an axis of time, or words."""
        return getattr(self.module, "SEES", "numbers")

    @property
    def margin(self) -> int:
        """Of pictures, how many pixels around them matter to it."""
        return getattr(self.module, "MARGIN", 0)

    @property
    def equivariant(self) -> bool:
        """Whether the right answers move with the inputs."""
        return getattr(self.module, "EQUIVARIANT", False)

    @property
    def converts(self) -> bool:
        """Whether its own strength is another number than the level of Gaussian noise of the same energy."""
        return hasattr(self.module, "strength")

    def strengths(self, levels: Sequence[float], sigma: float, mean: float, square: float) -> list[float]:
        """What it is handed for these levels: itself, or the strength of which the identity map's error is that
        of Gaussian noise, (level sigma)^2.

        Args:
            mean: of all clean entries x.
            square: the mean of x^2.

        Raises:
            UserError: no strength has so much energy.
        """
        if not self.converts:
            return list(levels)
        try:
            return [self.module.strength((level * sigma) ** 2, mean, square, self.settings) for level in levels]
        except ZeroDivisionError:
            raise UserError(
                f"shifts.{self.name}: the test frames are black, so no strength gives it the energy of noise: "
                "look at the test clips, or leave it out of video.evaluation.shifts"
            ) from None


def apply_of(params: Params, shift: str) -> Shifted:
    """The shift.

    Raises:
        UserError: its section is not right.
    """
    return Shifted(shift, validated(load("shifts", shift).Settings, params.shifts[shift], f"shifts.{shift}"))


def check(params: Params, task: str) -> None:
    """Raises UserError where the section of a shift in use of a task is not right, its levels among it.

    Who trains asks, since evaluation, which would end with it, comes after all has been trained. Whether data have
    as much energy as a level asks for is no matter of the section.
    """
    for shift in params.shifts_of(task):
        levels_of(params, task, shift, trained=())


def definitions(params: Params, task: str, code: str, unread: Set[str] = frozenset({"shifts"})) -> dict[str, dict]:
    """By shift in use, what scores under it depend on beside weights and data.

    Args:
        code: the module that measures.
        unread: of the task's evaluation, what it has no use for.
    """
    section = params.section(task)
    return {
        shift: {
            "evaluation": section.evaluation.model_dump(exclude=set(unread)),
            "tolerance": section.tolerance,
            "shift": params.shifts[shift],
            "code": digest((code, f"descent.shifts.{shift}")),
        }
        for shift in params.shifts_of(task)
    }


def levels_of(params: Params, task: str, shift: str, trained: Iterable[float]) -> list[float]:
    """The levels of a shift in a task, rising.

    These are its own; or, of the shift of training, the task's gammas and the training levels; or, of another
    whose level is an energy, the task's energies.

    Raises:
        UserError: the shift of training has levels of its own, and the paper's sweeps would be lost.
    """
    found = apply_of(params, shift)
    evaluation = params.section(task).evaluation
    own = found.settings.levels
    if shift == TRAINED:
        if own is not None:
            raise UserError(
                f"shifts.{shift}.levels must be null: its levels are the gammas of each task's evaluation"
            )
        own = [*evaluation.gammas, *trained]
    return sorted(set(map(float, evaluation.energies if own is None else own)))
