"""Deletion: a share `level` of the words of a text is gone."""

import numpy as np

from descent.schema import Shares

LABEL = "deleted words"
TASKS = ("text",)
ENERGY = False
SEES = "words"


class Settings(Shares):
    """levels: shares of the words, 0 to 1."""


def apply(words: list[str], level: float, numbers: np.random.Generator, settings: Settings) -> list[str]:
    """Words that are gone at a level are gone at every higher one; of a text one word is always left."""
    drawn = numbers.random(len(words))
    kept = (drawn >= level) | (drawn == drawn.max(initial=0))
    return [word for word, stays in zip(words, kept, strict=True) if stays]
