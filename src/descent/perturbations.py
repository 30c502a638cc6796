"""The shift between training and test: y = x + level * sigma * n, n standard normal (section 4)."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def generator(*key: int, device: torch.device | str = "cpu") -> torch.Generator:
    """A stream of random numbers that depends on the key alone, e.g. (seed, epoch, step)."""
    state = np.random.SeedSequence(key).generate_state(2, np.uint32)
    return torch.Generator(device).manual_seed(int(state[0]) << 32 | int(state[1]))


def perturb(
    clean: Float[Tensor, "#cells batch tokens width"],
    unit: Float[Tensor, "#cells batch tokens width"],
    level: Float[Tensor, " cells"],
    sigma: float,
) -> Float[Tensor, "cells batch tokens width"]:
    """y = x + level * sigma * n: the same unit noise n for every cell, scaled by each cell's level.

    Args:
        clean: x, pixels in [0, 1].
        unit: n, standard normal.
        level: eps when training, gamma when testing, one a cell.
        sigma: noise scale in the units of x.
    """
    return clean + (level * sigma)[:, None, None, None] * unit
