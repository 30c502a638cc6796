"""Salt and pepper: a share of the pixels, `amount` in scikit-image's words, turns white or black."""

import numpy as np
from jaxtyping import Float
from skimage.util import random_noise
from torch import Tensor

from descent.errors import UserError
from descent.schema import Share, Shift
from descent.shifts.parts.host import each_level
from descent.training.noise import Stream

LABEL = "salt and pepper"
TASKS = ("video",)
ENERGY = True


class Settings(Shift):
    """salt_vs_pepper: the share of white ones among the pixels that turn."""

    salt_vs_pepper: Share


def strength(energy: float, mean: float, square: float, settings: Settings) -> float:
    """The amount a at which a (p E (1 - x)^2 + (1 - p) E x^2) is the energy, p being the share of white ones.

    Raises:
        UserError: more pixels than there are would have to turn.
    """
    white = settings.salt_vs_pepper
    amount = energy / (white * (1 - 2 * mean + square) + (1 - white) * square)
    if amount > 1:
        raise UserError(
            "shifts.salt_and_pepper: not even all pixels turned have the energy of the highest level: set the "
            "levels of the section, or energies of video.evaluation, lower"
        )
    return amount


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The pixels that turn at a level turn at every higher one; `level` is the amount, `scale` has no say."""

    def turned(pictures: np.ndarray, amount: float) -> np.ndarray:
        options = {"clip": False, "amount": amount, "salt_vs_pepper": settings.salt_vs_pepper}
        return random_noise(pictures, mode="s&p", rng=stream.numpy(), **options)

    return each_level(clean, level, turned)
