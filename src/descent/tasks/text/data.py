"""Tokenised texts, gathered straight from the memory maps, and batches of texts of like length."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int, Int64, Integer
from torch import Tensor

from descent.errors import UserError
from descent.io.failures import UNOPENED


@dataclass(frozen=True)
class Texts:
    """One split: text i is tokens[offsets[i]:offsets[i + 1]]."""

    tokens: Integer[np.ndarray, " tokens"]
    offsets: Int64[np.ndarray, " ends"]  # one more than there are texts
    labels: Int64[np.ndarray, " texts"]
    pad: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> Int64[np.ndarray, " texts"]:
        """Tokens of each text, special ones included."""
        return np.diff(self.offsets)

    def gather(
        self, index: Int[np.ndarray, " batch"]
    ) -> tuple[Int64[Tensor, "batch tokens"], Int64[Tensor, " batch"], Int64[Tensor, " batch"]]:
        """The texts with these numbers, padded to the longest of them; their lengths; their labels."""
        starts = self.offsets[index]
        lengths = self.offsets[index + 1] - starts
        place = np.arange(lengths.max(initial=0))
        real = place < lengths[:, None]
        # Beyond a text's end its first token is read, and then painted over.
        numbers = self.tokens[starts[:, None] + np.where(real, place, 0)]
        padded = np.where(real, numbers.astype(np.int64), self.pad)
        return torch.from_numpy(padded), torch.from_numpy(lengths), torch.from_numpy(self.labels[index])


@dataclass(frozen=True)
class Tokens:
    """A tokenised data set."""

    folder: Path
    name: str
    tokenizer: str
    vocabulary: int
    pad: int
    classes: int
    max_tokens: int
    synthetic: bool
    digest: str
    frequencies: Int64[np.ndarray, " vocabulary"]  # of the tokens of the training split

    def split(self, name: str) -> Texts:
        """The texts of `train`, `validation`, `test` or, where it is there, `elsewhere`."""
        return texts(self.folder, name, self.pad)


def load(folder: Path) -> Tokens:
    """Open a tokenised data set.

    Raises:
        UserError: the folder is missing or incomplete.
    """
    keys = ("dataset", "classes", "tokenizer", "vocabulary", "pad", "max_tokens", "synthetic", "digest")
    meta = opened(folder, "text", keys)
    return Tokens(folder=folder, name=meta.pop("dataset"), classes=len(meta.pop("classes")), **meta)


def texts(folder: Path, split: str, pad: int) -> Texts:
    """The texts of a split; its tokens stay on the disk until they are gathered."""
    tokens = np.load(folder / f"{split}_tokens.npy", mmap_mode="r")
    return Texts(tokens, *(np.load(folder / f"{split}_{part}.npy") for part in ("offsets", "labels")), pad)


def opened(folder: Path, task: str, keys: Sequence[str]) -> dict[str, Any]:
    """These keys of meta.json and `frequencies`, once the arrays are found to be those that it tells of.

    Raises:
        UserError: the folder is missing or incomplete.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text())
        for split, count in meta["texts"].items():
            found = texts(folder, split, pad=0)
            if not len(found) == len(found.offsets) - 1 == count or len(found.tokens) != found.offsets[-1]:
                raise ValueError(f"{split} does not hold {count} texts")
        frequencies = np.load(folder / "frequencies.npy")
        if len(frequencies) != meta["vocabulary"]:
            raise ValueError("frequencies.npy is of another vocabulary")
        return {key: meta[key] for key in keys} | {"frequencies": frequencies}
    except (OSError, *UNOPENED):
        stage = f"preprocess_{task}@{folder.parent.name}"
        raise UserError(f"{folder} is missing or incomplete: run `dvc repro --force {stage}`") from None


def batches(
    lengths: Int[np.ndarray, " texts"],
    order: Int[np.ndarray, " texts"],
    size: int,
    pool: int,
    rng: np.random.Generator,
) -> list[Int[np.ndarray, " size"]]:
    """Batches of exactly `size` text numbers for one epoch; the last texts of `order` that fill none are left out.

    Texts of like length come together: `order` is cut into pools of `pool` batches, each is sorted by length, and
    the batches of all pools are then shuffled.

    Args:
        order: a permutation of the texts' numbers.
        rng: shuffles the batches.
    """
    kept = order[: len(order) // size * size]
    pools = (kept[begin : begin + pool * size] for begin in range(0, len(kept), pool * size))
    by_pool = [part[np.argsort(lengths[part], kind="stable")].reshape(-1, size) for part in pools]
    return list(rng.permutation(np.concatenate(by_pool))) if by_pool else []


def by_length(lengths: Int[np.ndarray, " texts"], size: int) -> list[Int[np.ndarray, " _"]]:
    """All texts, the shortest first, in batches of `size`; the last may be smaller."""
    order = np.argsort(lengths, kind="stable")
    return [order[begin : begin + size] for begin in range(0, len(order), size)]
