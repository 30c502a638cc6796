"""The shifts in use of video, each at its levels."""

from collections.abc import Iterable

from descent.cells import headline
from descent.config import Params
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.video.batches import Inputs
from descent.tasks.video.sweep import AtLevels
from descent.tasks.video.views import moments


def levels(params: Params, shift: str, more: Iterable[float] = ()) -> list[float]:
    """The levels of a shift: of that of training the uniform sweep and every training level, so that each cell has
    its own; of another its own."""
    grid = params.budget.video.eps
    return levels_of(params, "video", shift, [*grid, headline(params, "video"), *more])


def tested(params: Params, inputs: Inputs, kind: str, scale: float, more: Iterable[float] = ()) -> list[AtLevels]:
    """The shifts in use that fit these inputs: single frames have no time that a shift could change.

    Raises:
        UserError: a section that is not right, or a level that is out of its shift's range.
    """
    found, known = [], None
    for name in params.shifts_of("video"):
        apply = apply_of(params, name)
        swept = levels(params, name, more)
        if apply.sees == "time" and kind == "frames":
            continue
        if apply.converts and known is None:
            known = moments(inputs, params.video.evaluation.batch)
        strengths = apply.strengths(swept, scale, *(known or (0.0, 0.0)))
        found.append(AtLevels(apply, swept, strengths))
    return found
