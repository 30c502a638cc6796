"""Tokenised instructions with their responses, as preprocess_lm wrote them."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from descent.errors import UserError
from descent.tasks.lm import tokenizers as speakers
from descent.tasks.lm.tokenizers import Speaker
from descent.tasks.text.data import Texts

FOLDER = Path("data/tokens/alpaca")


@dataclass(frozen=True)
class Instructions:
    """A tokenised set of instructions; a text's label is the place of its response's first token."""

    folder: Path
    vocabulary: int
    begin: int | None
    end: int
    max_tokens: int
    synthetic: bool
    digest: str
    frequencies: Int64[np.ndarray, " vocabulary"]  # of the tokens of the training split

    def split(self, name: str) -> Texts:
        """The texts of `train`, `validation` or `test`; padded with end tokens, which nothing reads."""
        arrays = (np.load(self.folder / f"{name}_{part}.npy") for part in ("tokens", "offsets", "labels"))
        return Texts(*arrays, self.end)

    def speaker(self) -> Speaker:
        """The tokenizer."""
        return speakers.reopen(self.folder, self.begin, self.end)

    def prompts(self) -> list[dict[str, str]]:
        """What models complete: instruction, dataset, and the whole prompt."""
        return json.loads((self.folder / "prompts.json").read_text())


def load(folder: Path = FOLDER) -> Instructions:
    """Open tokenised instructions.

    Raises:
        UserError: the folder is missing or incomplete.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text())
        keys = ("vocabulary", "begin", "end", "max_tokens", "synthetic", "digest")
        frequencies = np.load(folder / "frequencies.npy")
        found = Instructions(folder=folder, frequencies=frequencies, **{key: meta[key] for key in keys})
        for name, texts in meta["texts"].items():
            if len(found.split(name)) != texts:
                raise ValueError(f"{name} does not hold {texts} texts")
        return found
    except (OSError, ValueError, KeyError):
        raise UserError(f"{folder} is missing or incomplete: run `dvc repro --force preprocess_lm`") from None
