"""Keyboard neighbours: in a share `level` of the words one letter is that of a key beside it."""

import numpy as np

from descent.schema import Shares
from descent.shifts.parts.words import hit

LABEL = "keyboard neighbours"
TASKS = ("text",)
ENERGY = False
SEES = "words"
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
# Half a key separates the rows: a key touches two of the row below it.
KEYS = {key: (2 * place + row, row) for row, keys in enumerate(ROWS) for place, key in enumerate(keys)}


def _beside(key: str) -> list[str]:
    x, y = KEYS[key]
    near = {(2, 0), (1, 1)}
    return sorted(other for other, (across, down) in KEYS.items() if (abs(across - x), abs(down - y)) in near)


BESIDE = {key: _beside(key) for key in KEYS}


class Settings(Shares):
    """levels: shares of the words, 0 to 1; those without a letter of the keyboard among them stay as they are."""


def apply(words: list[str], level: float, numbers: np.random.Generator, settings: Settings) -> list[str]:
    """One letter a word, on an English keyboard; capitals stay capitals."""
    return hit(words, level, numbers, _mistyped)


def _mistyped(word: str, place: float) -> str:
    # Letter by letter: a word in small letters may be longer than it was.
    choices = [(at, key) for at, letter in enumerate(word) for key in BESIDE.get(letter.lower(), ())]
    if not choices:
        return word
    at, key = choices[int(place * len(choices))]
    return word[:at] + (key.upper() if word[at].isupper() else key) + word[at + 1 :]
