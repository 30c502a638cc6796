"""Salt and pepper: a share of the pixels, `amount` in scikit-image's words, turns white or black."""

import numpy as np
import torch
from jaxtyping import Float
from skimage.util import random_noise
from torch import Tensor

from descent.schema import Share, Shift
from descent.training.noise import Stream

LABEL = "salt and pepper"
TASKS = ("video",)


class Settings(Shift):
    """salt_vs_pepper: the share of white ones among the pixels that turn."""

    salt_vs_pepper: Share


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The pixels that turn at a level turn at every higher one; `level` is the amount, `scale` has no say."""
    pictures, noisy = clean.cpu().numpy(), {}
    for amount in set(level.tolist()):
        draws = stream.numpy()
        options = {"rng": draws, "clip": False, "amount": amount, "salt_vs_pepper": settings.salt_vs_pepper}
        noisy[amount] = random_noise(pictures, mode="s&p", **options).astype(np.float32)
    by_cell = [noisy[amount][min(cell, len(pictures) - 1)] for cell, amount in enumerate(level.tolist())]
    return torch.from_numpy(np.stack(by_cell)).to(clean.device)
