"""Shifts of texts that hit whole tokens, and leave the others as they are."""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.errors import UserError


def hit(
    name: str,
    energy: Float[Tensor, "#cells"],
    level: Float[Tensor, " cells"],
    scale: float | Float[Tensor, "#cells"],
    numbers: np.random.Generator,
    shape: tuple[int, int],
) -> Bool[Tensor, "cells batch tokens"]:
    """Which tokens are hit: each with probability (level scale)^2 / energy, so that the mean squared change of an
    entry is that of Gaussian noise. Those hit at a level are hit at every higher one.

    Args:
        name: the shift's.
        energy: the mean squared change of an entry where every token is hit.

    Raises:
        UserError: a level has more energy than that.
    """
    share = (level * scale).square() / energy
    if share.max() > 1:
        raise UserError(
            f"shifts.{name}: level {level.max():g} has more energy than to hit all tokens: set the levels of the "
            "section, or energies of the task's evaluation, below 1"
        )
    drawn = torch.from_numpy(numbers.random(shape)).to(energy.device)
    return drawn < share.double().view(-1, 1, 1)
