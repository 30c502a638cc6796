"""Tokenised instructions with their responses, as prepare.py wrote them."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from descent.tasks.lm.speaker import Speaker, reopen
from descent.tasks.text.data import Texts, opened, texts


@dataclass(frozen=True)
class Instructions:
    """A tokenised set of instructions; a text's label is the place of its response's first token."""

    folder: Path
    name: str
    tokenizer: str
    vocabulary: int
    begin: int | None
    end: int
    max_tokens: int
    synthetic: bool
    digest: str
    frequencies: Int64[np.ndarray, " vocabulary"]  # of the tokens of the training split

    def split(self, name: str) -> Texts:
        """The texts of `train`, `validation` or `test`; padded with end tokens, which nothing reads."""
        return texts(self.folder, name, self.end)

    def speaker(self) -> Speaker:
        """The tokenizer."""
        return reopen(self.folder, self.begin, self.end)

    def prompts(self) -> list[dict[str, str]]:
        """What models complete: instruction, dataset, and the whole prompt."""
        return json.loads((self.folder / "prompts.json").read_text())


def load(folder: Path) -> Instructions:
    """Open tokenised instructions.

    Raises:
        UserError: the folder is missing or incomplete.
    """
    keys = ("dataset", "tokenizer", "vocabulary", "begin", "end", "max_tokens", "synthetic", "digest")
    meta = opened(folder, "lm", keys)
    return Instructions(folder=folder, name=meta.pop("dataset"), **meta)
