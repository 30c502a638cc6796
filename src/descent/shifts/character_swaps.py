"""Character swaps: in a share `level` of the words two neighbouring characters have changed places."""

import numpy as np

from descent.schema import Shares
from descent.shifts.parts.words import hit

LABEL = "swapped letters"
TASKS = ("text",)
ENERGY = False
SEES = "words"
SHORTEST = 4  # characters: the first and the last stay, so that a shorter word has no two to swap


class Settings(Shares):
    """levels: shares of the words, 0 to 1; those of three characters and fewer among them stay as they are. A
    mark that hangs on a word is its last character, so that in `end.` the last letters are swapped."""


def apply(words: list[str], level: float, numbers: np.random.Generator, settings: Settings) -> list[str]:
    """One swap a word, of inner letters (Belinkov and Bisk, 2018)."""
    return hit(words, level, numbers, _swapped)


def _swapped(word: str, place: float) -> str:
    if len(word) < SHORTEST:
        return word
    first = 1 + int(place * (len(word) - SHORTEST + 1))
    return word[:first] + word[first + 1] + word[first] + word[first + 2 :]
