"""Shifts of single words: which are hit, and what becomes of those."""

from collections.abc import Callable

import numpy as np


class Unknown(str):
    """A word, or part of one, in whose place stands the tokenizer's token for what it does not know."""


def hit(
    words: list[str], level: float, numbers: np.random.Generator, change: Callable[[str, float], str]
) -> list[str]:
    """Each word with probability `level` as `change` makes it of the word and a number from [0, 1).

    Words that are hit at a level are hit at every higher one, in the same way. One that is Unknown stays as it
    is: its letters are not the text's.
    """
    drawn, places = numbers.random((2, len(words)))
    told = zip(words, drawn < level, places, strict=True)
    return [
        change(word, place) if struck and not isinstance(word, Unknown) else word for word, struck, place in told
    ]
