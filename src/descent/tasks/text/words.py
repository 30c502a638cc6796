"""Test texts as a shift of words sees them: their tokens as words, and those that it leaves as tokens again.

A word is what stands between spaces in the tokenizer's own decoding: the marks . , ! ? hang on the word before,
and others are words too of WordPiece (`bert`), and parts of one of byte pairs (`roberta`). The same level is then
not the same shift for both, and models of unlike tokenizers are not compared by it; the arms of a pair have one.

Shifts act on what preparation kept, texts already cut to max_tokens: where words are deleted, nothing from behind
the cut moves up. Of a word that the tokenizer does not know preparation has kept no letters, so that none of them
are shifted; the word itself may move or go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int
from tokenizers import Tokenizer

from descent.shifts.parts.words import Unknown
from descent.tasks.common.shifted import Shifted
from descent.tasks.text.data import Texts
from descent.tasks.text.tokenizers import special, unknown
from descent.training.noise import TEST, Stream

_of: dict[str, "Words"] = {}


def words(split: str, *told: Any) -> "Words":
    """The Words of these arguments for a split, the same for all cells of a process: they read the same texts."""
    return _of.setdefault(repr((split, told)), Words(*told))


@dataclass(frozen=True)
class Words:
    """What a shift of words makes of the texts of a split of a tokenised data set, in `folder`; each made once."""

    folder: Path
    max_tokens: int
    shift: Shifted
    seed: int

    def shifted(self, texts: Texts, index: Int[np.ndarray, " batch"], level: float, draw: int) -> Texts:
        """The texts with these numbers at a level, in the same order.

        The random numbers follow the text and the draw: they are the same at all levels and for all models.
        """
        asked = (index.tobytes(), level, draw)
        if asked not in self._known:
            self._known[asked] = self._shifted(texts, index, level, draw)
        return self._known[asked]

    def _shifted(self, texts: Texts, index: Int[np.ndarray, " batch"], level: float, draw: int) -> Texts:
        rows = [texts.tokens[texts.offsets[number] : texts.offsets[number + 1]].tolist() for number in index]
        found = [self._row(row, level, int(number), draw) for row, number in zip(rows, index, strict=True)]
        flat = np.fromiter(chain.from_iterable(found), texts.tokens.dtype)
        offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
        return Texts(flat, offsets, texts.labels[index], texts.pad)

    def _row(self, ids: list[int], level: float, number: int, draw: int) -> list[int]:
        """A text between its special tokens; of one that is too long the longer part is cut first."""
        numbers = Stream(TEST, self.seed, number, draw).numpy()
        apart = [(ends, list(run)) for ends, run in groupby(ids, key=self._ends.__contains__)]
        parts = [run if ends else self._part(run, level, numbers) for ends, run in apart]
        inner = [part for part, (ends, _) in zip(parts, apart, strict=True) if not ends]
        for _ in range(sum(map(len, parts)) - self.max_tokens):
            max(inner, key=len).pop()
        return list(chain.from_iterable(parts))

    def _part(self, ids: list[int], level: float, numbers: np.random.Generator) -> list[int]:
        # Tokens of a part that the shift leaves alone stay as they are, whatever a tokenizer makes of its text.
        said = self._tokenizer.decode(ids, skip_special_tokens=False).split()
        words = [Unknown(word) if self._unknown and self._unknown in word else word for word in said]
        changed = self._change(words, level, numbers)
        return ids if changed == words else self._encoded(changed)

    def _encoded(self, words: Sequence[str]) -> list[int]:
        return self._tokenizer.encode(" ".join(words), add_special_tokens=False).ids

    @cached_property
    def _known(self) -> dict[tuple[bytes, float, int], Texts]:
        return {}

    @cached_property
    def _change(self) -> Callable[[list[str], float, np.random.Generator], list[str]]:
        return self.shift.of_words

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def _unknown(self) -> str:
        return unknown(self._tokenizer)

    @cached_property
    def _ends(self) -> set[int]:
        """The tokens around texts and between those of a pair; an unknown word is one of the text."""
        around = special(self._tokenizer)
        return {around.first, around.last}
