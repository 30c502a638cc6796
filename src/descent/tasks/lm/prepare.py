"""Instructions and responses to memory-mappable token numbers."""

import hashlib
import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from descent.errors import UserError
from descent.io.folders import written_whole
from descent.tasks.lm import tokenizers as speakers
from descent.tasks.lm.prompts import Style, prompt
from descent.tasks.lm.tokenizers import Speaker
from descent.tasks.text.prepare import SPLITS, held_out
from descent.tasks.text.schema import TokenizerSource


@dataclass(frozen=True)
class Encoded:
    """One split: prompts with their responses, as token numbers."""

    texts: list[list[int]]
    starts: list[int]  # the place of each response's first token
    cut: int  # responses that were cut to the context
    crowded: int  # examples left out, as their prompt leaves no room for a response


def prepare(
    raw: Path,
    out: Path,
    source: TokenizerSource,
    style: Style,
    max_tokens: int,
    validation_share: float,
    test_share: float,
    local_data: str,
    profile: str,
) -> None:
    """Write `out`: <split>_tokens.npy, <split>_offsets.npy and <split>_labels.npy for train, validation and test.

    A text is the begin token (where there is one), the prompt, the response and the end token; its label is the
    place of the response's first token. A response that does not fit is cut and then has no end token. Beside
    them: frequencies.npy (vocabulary,) of the training split, tokenizer.json, prompts.json (what models complete:
    instruction, dataset, prompt) and meta.json, with counts and a digest of all.

    Args:
        raw: the folder of instruction_sources.fetch.
        validation_share, test_share: of the instructions; equal ones stay together.

    Raises:
        UserError: raw data that are missing, a tokenizer that cannot be had, or too few instructions.
    """
    table, prompts, facts = _raw(raw)
    splits = split(table, validation_share, test_share)
    words = (f"{prompt(style, r.instruction, r.input)}{r.output}" for r in splits["train"].itertuples())
    speaker = speakers.build(source, words, local_data)
    encoded = {name: encode(speaker, rows, style, max_tokens) for name, rows in splits.items()}
    short = [name for name, found in encoded.items() if not found.texts]
    if short:
        raise UserError(
            f"no prompt of the {short[0]} instructions leaves room for a response within max_tokens {max_tokens}: "
            "raise profiles.<profile>.lm.max_tokens, or set its prompt to plain, in params.yaml"
        )
    asked = _asked(splits["test"]) if prompts is None else prompts
    asked = [{**row, "prompt": prompt(style, row["instruction"])} for row in asked.to_dict("records")]
    counts = {name: {"cut": found.cut, "crowded": found.crowded} for name, found in encoded.items()}
    with written_whole(out) as folder:
        meta = {
            "profile": profile,
            "vocabulary": speaker.vocabulary,
            "begin": speaker.begin,
            "end": speaker.end,
            "max_tokens": max_tokens,
            "texts": {name: len(found.texts) for name, found in encoded.items()},
            **facts,
            **{key: {name: counts[name][key] for name in SPLITS} for key in ("cut", "crowded")},
            "digest": _write(folder, speaker, encoded, asked),
        }
        (folder / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")
    print(_told(meta))


def split(table: pd.DataFrame, validation_share: float, test_share: float) -> dict[str, pd.DataFrame]:
    """The three splits; an instruction and its input draw for themselves, so that no test one trains too.

    Raises:
        UserError: a split is empty.
    """
    instructions = (table["instruction"] + "\n" + table["input"]).tolist()
    outside = held_out(instructions, validation_share + test_share)
    test = held_out(instructions, test_share)
    splits = {"train": table[~outside], "validation": table[outside & ~test], "test": table[test]}
    for name in SPLITS:
        if splits[name].empty:
            raise UserError(f"{len(table)} instructions are too few: none is left to the {name} split")
    return splits


def encode(speaker: Speaker, rows: pd.DataFrame, style: Style, max_tokens: int) -> Encoded:
    """Prompts with their responses, at most max_tokens tokens each."""
    before = speaker.encode([prompt(style, row.instruction, row.input) for row in rows.itertuples()])
    responses = speaker.encode(rows["output"].tolist())
    first = [] if speaker.begin is None else [speaker.begin]
    texts, starts, cut, crowded = [], [], 0, 0
    for asked, answer in zip(before, responses, strict=True):
        start, whole = len(first) + len(asked), [*first, *asked, *answer, speaker.end]
        if start >= max_tokens:
            crowded += 1
            continue
        cut += len(whole) > max_tokens
        texts.append(whole[:max_tokens])
        starts.append(start)
    return Encoded(texts, starts, cut, crowded)


def _asked(test: pd.DataFrame) -> pd.DataFrame:
    """The test instructions as prompts in AlpacaEval's form, which has the input in the instruction."""
    merged = test["instruction"].where(test["input"] == "", test["instruction"] + "\n\n" + test["input"])
    return pd.DataFrame({"instruction": merged, "dataset": "test"}).drop_duplicates()


def _raw(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame | None, dict[str, Any]]:
    try:
        facts = json.loads((folder / "source.json").read_text())
        prompts = folder / "prompts.parquet"
        table = pd.read_parquet(folder / "instructions.parquet")
        found = pd.read_parquet(prompts) if prompts.exists() else None
        return table, found, {key: facts[key] for key in ("synthetic", "origin", "dropped")}
    except (OSError, ValueError, KeyError, pa.ArrowException):
        raise UserError(f"{folder} is missing or incomplete: run `dvc repro --force download_lm`") from None


def _write(folder: Path, speaker: Speaker, encoded: dict[str, Encoded], prompts: list[dict[str, str]]) -> str:
    """Write everything but meta.json; returns its digest."""
    speaker.tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "prompts.json").write_text(json.dumps(prompts, indent=1) + "\n")
    digest = hashlib.sha256((folder / "tokenizer.json").read_bytes())
    size = speaker.vocabulary
    dtype = np.uint16 if size <= 1 << 16 else np.int32
    arrays: dict[str, np.ndarray] = {}
    for name, found in encoded.items():
        arrays[f"{name}_tokens"] = np.fromiter(chain.from_iterable(found.texts), dtype)
        arrays[f"{name}_offsets"] = np.cumsum([0, *map(len, found.texts)], dtype=np.int64)
        arrays[f"{name}_labels"] = np.array(found.starts, dtype=np.int64)
    arrays["frequencies"] = np.bincount(arrays["train_tokens"], minlength=size)
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        digest.update(array.tobytes())
    return digest.hexdigest()


def _told(meta: dict[str, Any]) -> str:
    texts, cut, crowded = (sum(meta[key].values()) for key in ("texts", "cut", "crowded"))
    lines = [f"{texts:,} instructions; the responses of {cut:,} ({cut / texts:.1%}) were cut to the context of"]
    lines[0] += f" {meta['max_tokens']} tokens"
    if crowded:
        lines.append(f"{crowded:,} were left out, as their prompt fills that context")
    lines += [f"{count:,} were left out for an {reason}" for reason, count in meta["dropped"].items()]
    return "\n".join(lines)
