"""Adjacent swaps: a share `level` of the words of a text has changed places with a neighbour."""

import numpy as np

from descent.schema import Shares

LABEL = "swapped words"
TASKS = ("text",)
ENERGY = False
SEES = "words"


class Settings(Shares):
    """levels: shares of the words, 0 to 1."""


def apply(words: list[str], level: float, numbers: np.random.Generator, settings: Settings) -> list[str]:
    """Pairs of neighbours, from the first word or the second on.

    Those swapped at a level are at every higher one.
    """
    found = list(words)
    begin = int(numbers.integers(2)) if len(words) > 2 else 0
    firsts = range(begin, len(words) - 1, 2)
    for first, drawn in zip(firsts, numbers.random(len(firsts)), strict=True):
        if drawn < level:
            found[first : first + 2] = words[first + 1], words[first]
    return found
