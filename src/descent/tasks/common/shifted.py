"""The shifts of params.yaml as functions, and the levels at which each is applied."""

from collections.abc import Callable, Iterable
from functools import partial

from torch import Tensor

from descent.analysis.select import TRAINED
from descent.components import load
from descent.config import Params
from descent.errors import UserError
from descent.schema import Shift, validated
from descent.training.noise import Stream

Apply = Callable[[Tensor, Tensor, Stream, float], Tensor]


def _settings(params: Params, shift: str) -> Shift:
    return validated(load("shifts", shift).Settings, params.shifts[shift], f"shifts.{shift}")


def apply_of(params: Params, shift: str) -> Apply:
    """The shift: clean inputs, a level a cell, the batch's random numbers and sigma give the noisy inputs.

    Raises:
        UserError: its section is not right.
    """
    return partial(load("shifts", shift).apply, settings=_settings(params, shift))


def levels_of(params: Params, task: str, shift: str, trained: Iterable[float]) -> list[float]:
    """The levels of a shift in a task, rising: its own, or the task's gammas and, of that of training, its levels.

    Raises:
        UserError: the shift of training has levels of its own, and the paper's sweeps would be lost.
    """
    own = _settings(params, shift).levels
    if shift == TRAINED and own is not None:
        raise UserError(f"shifts.{shift}.levels must be null: its levels are the gammas of each task's evaluation")
    gammas = getattr(params, task).evaluation.gammas
    found = own if own is not None else [*gammas, *(trained if shift == TRAINED else ())]
    return sorted(set(map(float, found)))
