"""What shifts that work in numpy, on the host, have in common."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

Change = Callable[[np.ndarray, float], np.ndarray]


def each_level(
    clean: Float[Tensor, "#cells batch *parts"], level: Float[Tensor, " cells"], change: Change
) -> Float[Tensor, "cells batch *parts"]:
    """`change(clean, level)` worked out once a level, and handed to every cell that has it."""
    arrays = clean.cpu().numpy()
    changed = {}
    for one in set(level.tolist()):
        changed[one] = change(arrays, one).astype(np.float32)
    by_cell = [changed[one][min(cell, len(arrays) - 1)] for cell, one in enumerate(level.tolist())]
    return torch.from_numpy(np.stack(by_cell)).to(clean.device)
