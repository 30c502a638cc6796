"""Tokenised texts as text classification and the language model keep them on disk; data.py reads them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64, Integer
from tokenizers import Tokenizer

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Encoded:
    """One split: text i is tokens[offsets[i]:offsets[i + 1]], and its label labels[i]."""

    tokens: Integer[np.ndarray, " tokens"]
    offsets: Int64[np.ndarray, " ends"]  # one more than there are texts
    labels: Int64[np.ndarray, " texts"]


def number_type(vocabulary: int) -> type[np.integer]:
    """The smallest type that holds the token numbers of a vocabulary."""
    return np.uint16 if vocabulary <= 1 << 16 else np.int32


def named(splits: Mapping[str, Encoded]) -> dict[str, np.ndarray]:
    """The arrays of all splits under the names of their files."""
    return {
        f"{split}_{part}": getattr(encoded, part)
        for split, encoded in splits.items()
        for part in ("tokens", "offsets", "labels")
    }


def frequencies(train: Encoded, vocabulary: int) -> Int64[np.ndarray, " {vocabulary}"]:
    """How often each token occurs in the training split, special tokens included."""
    return np.bincount(train.tokens, minlength=vocabulary)


def write(folder: Path, tokenizer: Tokenizer, arrays: Mapping[str, np.ndarray]) -> str:
    """Write tokenizer.json and an .npy for each array; returns a digest of them all, in their order."""
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    return save(folder, arrays, (folder / "tokenizer.json").read_bytes())


def save(folder: Path, arrays: Mapping[str, np.ndarray], before: bytes) -> str:
    """Write an .npy for each array; returns a digest of `before` and of all of them, in their order."""
    digest = hashlib.sha256(before)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        digest.update(array.tobytes())
    return digest.hexdigest()
