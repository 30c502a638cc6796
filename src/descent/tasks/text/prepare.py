"""Texts to memory-mappable token numbers, once for each data set and tokenizer."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Bool, Int64
from tokenizers import Tokenizer

from descent import components
from descent.config import Params
from descent.errors import UserError
from descent.io.folders import atomic_folder
from descent.io.progress import Bar
from descent.paths import PREPARED
from descent.schema import TokenizerSource
from descent.tasks.text import arrays, tokenizers
from descent.tasks.text.arrays import SPLITS, Encoded

LONGEST = 1 << 17  # characters of a text that are read: a word of ten million would take a tokenizer minutes
CHUNK = 1000  # texts that are tokenised at once, on all cores


@dataclass(frozen=True)
class Tokenising:
    """How a data set is cut in tokens and splits.

    Attributes:
        tokenizer: its name, of those of the profile.
        max_tokens: longer texts are cut, the longer one first in a pair.
        validation_share: of the training texts, see `held_out`.
    """

    dataset: str
    tokenizer: str
    source: TokenizerSource
    max_tokens: int
    validation_share: float
    local_data: str
    profile: str


@dataclass(frozen=True)
class Examples:
    """Texts, or pairs of texts, their labels, and of test texts what each is a kind of, where that is known."""

    texts: list[str] | list[tuple[str, str]]
    labels: Int64[np.ndarray, " texts"]
    groups: list[str] | None = None

    def where(self, chosen: Bool[np.ndarray, " texts"]) -> "Examples":
        """Those marked, in the same order and without kinds."""
        return Examples([self.texts[i] for i in np.flatnonzero(chosen)], self.labels[chosen])


def stage(params: Params, dataset: str) -> None:
    """The raw data set of data/raw to the numbers of every tokenizer in use, in data/prepared.

    Raises:
        UserError: no data set of that name; see `prepare`.
    """
    for raw, out, shared in tokenised(params, "text", dataset):
        prepare(raw, out, Tokenising(**shared))


def tokenised(params: Params, task: str, dataset: str) -> Iterator[tuple[Path, Path, dict[str, Any]]]:
    """For every tokenizer in use the raw data, the folder to make of them, and what Tokenising holds.

    Raises:
        UserError: no data set of that name.
    """
    components.check(f"tasks.{task}.datasets", dataset, f"{task} data set")
    budget = params.budget.grids(task)
    folder = PREPARED / dataset
    folder.mkdir(parents=True, exist_ok=True)  # also where no model is in use
    for tokenizer in params.tokenizers(task):
        shared = {
            "dataset": dataset,
            "tokenizer": tokenizer,
            "source": budget.tokenizers[tokenizer],
            "max_tokens": budget.max_tokens,
            "validation_share": params.section(task).validation_share,
            "local_data": params.local_data,
            "profile": params.profile,
        }
        yield Path("data/raw") / dataset, folder / tokenizer, shared


def prepare(raw: Path, out: Path, how: Tokenising) -> None:
    """Write `out`: <split>_tokens.npy, <split>_offsets.npy and <split>_labels.npy for train, validation, test and,
    where the raw data have it, elsewhere; <split>_groups.npy where they tell kinds of test texts apart.

    Tokens are flat, uint16 where the vocabulary fits, else int32; offsets (texts + 1) and labels are int64. Beside
    them: frequencies.npy (vocabulary,) int64, how often each token occurs in the training split, special tokens
    included; tokenizer.json; and meta.json, with counts, the names of the kinds of each split, a digest of the
    tokenizer and the arrays of the three splits, and one of elsewhere and kinds.

    Args:
        raw: the folder with train.parquet, test.parquet, if there elsewhere.parquet, and source.json.

    Raises:
        UserError: raw data that are missing, a tokenizer that cannot be had, or too few texts for the split.
    """
    examples, facts = _raw(raw)
    splits = _split(how.dataset, examples, how.validation_share)
    tokenizer = tokenizers.build(how.source, _flat(splits["train"].texts), how.local_data)
    known = set(examples["train"].texts)
    size = tokenizers.vocabulary(tokenizer)
    encoded, cut = _encoded(how.dataset, splits, tokenizer, how.max_tokens)
    texts = {split: len(own.labels) for split, own in encoded.items()}
    groups, kinds = _kinds(splits)
    trained = {split: encoded[split] for split in SPLITS}  # `elsewhere` and kinds change no weight
    apart = arrays.named({split: own for split, own in encoded.items() if split not in SPLITS}) | groups
    frequencies = {"frequencies": arrays.frequencies(encoded["train"], size)}
    ends = tokenizers.special(tokenizer)
    tokenizers.check_known(tokenizer, frequencies["frequencies"], (ends.pad, ends.first, ends.last))
    with atomic_folder(out) as folder:
        meta = {
            "dataset": how.dataset,
            "tokenizer": how.tokenizer,
            "profile": how.profile,
            "vocabulary": size,
            "pad": ends.pad,
            "pairs": isinstance(splits["test"].texts[0], tuple),
            "max_tokens": how.max_tokens,
            "repeated": sum(text in known for text in splits["test"].texts),
            **facts,
            "texts": texts,
            "tokens": {split: len(own.tokens) for split, own in encoded.items()},
            "cut": cut,
            "groups": kinds,
            "digest": arrays.write(folder, tokenizer, frequencies | arrays.named(trained)),
            "kinds_digest": arrays.save(folder, apart, json.dumps(kinds).encode()),
        }
        (folder / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")
    print(_summary(meta))


def _summary(meta: dict[str, Any]) -> str:
    """What was cut, what is not known, and what both trains and tests."""
    dataset, texts = meta["dataset"], meta["texts"]
    longer, total = sum(meta["cut"].values()), sum(texts.values())
    lines = [
        f"{dataset}, {meta['tokenizer']}: {longer:,} of {total:,} texts ({longer / total:.1%}) are longer than"
    ]
    lines[0] += f" {meta['max_tokens']} tokens and were cut"
    field = getattr(components.load("tasks.text.datasets", dataset), "GROUP", "")
    if field and "test" not in meta["groups"]:
        lines.append(f"{dataset}: its test texts have no column {field}, so that they are not told apart by it")
    if meta["repeated"]:
        lines.append(f"{meta['repeated']:,} of {texts['test']:,} test texts are among the training texts too")
    return "\n".join(lines)


def _split(dataset: str, examples: dict[str, Examples], share: float) -> dict[str, Examples]:
    """The three splits, and `elsewhere` where it is there.

    Raises:
        UserError: nothing is left to train or to validate.
    """
    held = held_out(examples["train"].texts, share)
    if held.all() or not held.any():
        raise UserError(f"{dataset}: {len(held)} training texts are too few to hold out a share of {share}")
    train = examples["train"]
    tests = {part: own for part, own in examples.items() if part != "train"}
    return {"train": train.where(~held), "validation": train.where(held)} | tests


def _kinds(splits: dict[str, Examples]) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """What each test text is a kind of, as arrays of numbers, and the names that these stand for, by split."""
    numbers, names = {}, {}
    for split, own in splits.items():
        if own.groups is not None:
            found, places = np.unique(own.groups, return_inverse=True)
            numbers[f"{split}_groups"] = places.astype(np.int64)
            names[split] = found.tolist()
    return numbers, names


def held_out(texts: Sequence[str] | Sequence[tuple[str, str]], share: float) -> Bool[np.ndarray, " texts"]:
    """Which training texts validate: about this share.

    A text draws for itself, so that the order does not matter and equal texts stay together. Of a pair the first
    text draws: MultiNLI has several hypotheses to a premise, and none of its test premises trains either.
    """
    first = (text if isinstance(text, str) else text[0] for text in texts)
    numbers = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in first)
    return np.frombuffer(numbers, ">u8") < np.uint64(share * 2**64)


def _encoded(
    dataset: str, splits: dict[str, Examples], tokenizer: Tokenizer, max_tokens: int
) -> tuple[dict[str, Encoded], dict[str, int]]:
    """All splits, and how many texts of each were cut to max_tokens."""
    encoded = {}
    cut = {}
    texts = sum(len(own.labels) for own in splits.values())
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    with Bar(desc=f"tokenising {dataset}", total=texts, unit="text") as bar:
        for split, own in splits.items():
            encoded[split], cut[split] = _encode(tokenizer, own, bar)
    tokenizer.no_truncation()
    return encoded, cut


def _encode(tokenizer: Tokenizer, examples: Examples, bar: Bar) -> tuple[Encoded, int]:
    """Token numbers of the texts with the special tokens, cut as the tokenizer is set; and how many were cut."""
    dtype = arrays.number_type(tokenizers.vocabulary(tokenizer))
    tokens = [np.empty(0, dtype)]
    lengths = [0]
    cut = 0
    for begin in range(0, len(examples.texts), CHUNK):
        found = tokenizer.encode_batch_fast(examples.texts[begin : begin + CHUNK])
        numbers = [encoding.ids for encoding in found]
        lengths += map(len, numbers)
        cut += sum(bool(encoding.overflowing) for encoding in found)
        tokens.append(np.fromiter(chain.from_iterable(numbers), dtype))
        bar.update(len(found))
    return Encoded(np.concatenate(tokens), np.cumsum(lengths, dtype=np.int64), examples.labels), cut


def _raw(folder: Path) -> tuple[dict[str, Examples], dict[str, Any]]:
    """The parts `train`, `test` and, if there, `elsewhere`, and what source.json says that meta.json says too."""
    try:
        facts = json.loads((folder / "source.json").read_text())
        parts = {}
        for part in ("train", "test", *(("elsewhere",) if (folder / "elsewhere.parquet").exists() else ())):
            table = pq.read_table(folder / f"{part}.parquet")
            texts = [text[:LONGEST] for text in table["text"].to_pylist()]
            if "pair" in table.column_names:
                pairs = [text[:LONGEST] for text in table["pair"].to_pylist()]
                texts = list(zip(texts, pairs, strict=True))
            groups = table["group"].to_pylist() if "group" in table.column_names else None
            parts[part] = Examples(texts, table["label"].to_numpy(), groups)
        return parts, {key: facts[key] for key in ("synthetic", "classes", "dropped")}
    except (OSError, ValueError, TypeError, KeyError, RecursionError, pa.ArrowException):
        raise UserError(
            f"{folder} is missing or incomplete: run `dvc repro --force download_text@{folder.name}`"
        ) from None


def _flat(texts: list[str] | list[tuple[str, str]]) -> list[str]:
    """Both texts of each pair."""
    return texts if isinstance(texts[0], str) else list(chain.from_iterable(texts))
