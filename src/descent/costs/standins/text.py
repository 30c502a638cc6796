"""Tokenised texts of the right number and length without a download: the same word again and again."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from descent.components import declared
from descent.config import Params
from descent.costs.shapes import vocabulary
from descent.errors import UserError


def write(params: Params, dataset: str, model: str, folder: Path, shrink: int) -> None:
    """What preprocess_text would leave in `folder`, as many texts as the profile's source has, all of mean length.

    Raises:
        UserError: the data set's file says no SIZE, or the size of a vocabulary is not known.
    """
    source = params.source("text", dataset)
    said = size("text", dataset)
    if made := source.generate:
        train, test = made.train_texts, made.test_texts
    else:
        train = min(said["train"], source.train_texts or said["train"])
        test = min(max(said["test"] - source.test_skip, 1), source.test_texts or said["test"])
    held = round(train * params.text.validation_share)
    length = min(said["tokens"], params.budget.text.max_tokens)
    facts = {
        "classes": list(declared("tasks.text.datasets", dataset)["CLASSES"]),
        "vocabulary": vocabulary(params, "text", model) // shrink,
        "pad": 1,
        "max_tokens": params.budget.text.max_tokens,
    }
    texts = {"train": train - held, "validation": held, "test": test}
    fill(folder, dataset, params.tokenizer(model), texts, length, label=0, facts=facts)


def size(task: str, dataset: str) -> Mapping[str, int]:
    """What a data set's file says of its size.

    Raises:
        UserError: nothing.
    """
    said = declared(f"tasks.{task}.datasets", dataset).get("SIZE")
    if said is None:
        raise UserError(f"{dataset}: its file says no SIZE (texts and tokens), so nothing can be estimated")
    return said


def fill(
    folder: Path, dataset: str, tokenizer: str, texts: Mapping[str, int], length: int, label: int, facts: Mapping
) -> None:
    """So many texts a split of `length` tokens each, which take no room on the disk, and meta.json."""
    for split, count in texts.items():
        np.lib.format.open_memmap(folder / f"{split}_tokens.npy", "w+", np.uint16, (count * length,))
        np.save(folder / f"{split}_offsets.npy", np.arange(count + 1) * length)
        np.save(folder / f"{split}_labels.npy", np.full(count, label))
    np.save(folder / "frequencies.npy", np.ones(facts["vocabulary"], np.int64))
    meta = {"dataset": dataset, "tokenizer": tokenizer, "texts": dict(texts), "synthetic": True, "digest": ""}
    (folder / "meta.json").write_text(json.dumps(meta | dict(facts)))
