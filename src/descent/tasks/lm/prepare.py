"""Instructions and responses to memory-mappable token numbers."""

import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from descent.config import Params
from descent.errors import UserError
from descent.io.folders import atomic_folder
from descent.tasks.lm.prompts import Style, prompt
from descent.tasks.lm.speaker import Speaker, build
from descent.tasks.text import arrays
from descent.tasks.text import prepare as text
from descent.tasks.text.arrays import SPLITS, Encoded
from descent.tasks.text.prepare import LONGEST, held_out
from descent.tasks.text.tokenizers import check_known


@dataclass(frozen=True)
class Tokenising(text.Tokenising):
    """How instructions are: as texts, which a prompt goes round in this style; and a share of them tests.

    Of instructions equal ones stay together.
    """

    style: Style
    test_share: float


def stage(params: Params, dataset: str) -> None:
    """The instructions of data/raw to the numbers of every tokenizer in use, in data/prepared.

    Raises:
        UserError: no data set of that name; see `prepare`.
    """
    style, test_share = params.budget.lm.prompt, params.lm.test_share
    for raw, out, shared in text.tokenised(params, "lm", dataset):
        prepare(raw, out, Tokenising(**shared, style=style, test_share=test_share))


def prepare(raw: Path, out: Path, how: Tokenising) -> None:
    """Write `out`: <split>_tokens.npy, <split>_offsets.npy and <split>_labels.npy for train, validation and test.

    A text is the begin token (where there is one), the prompt, the response and the end token; its label is the
    place of the response's first token. A response that does not fit is cut and then has no end token. Beside
    them: frequencies.npy (vocabulary,) of the training split, tokenizer.json, prompts.json (what models complete:
    instruction, dataset, prompt) and meta.json, with counts and a digest of all arrays and the tokenizer.

    Args:
        raw: the folder of raw.fetch.

    Raises:
        UserError: raw data that are missing, a tokenizer that cannot be had, or too few instructions.
    """
    table, prompts, facts = _raw(raw)
    splits, style = split(table, how.validation_share, how.test_share), how.style
    words = (f"{prompt(style, r.instruction, r.input)}{r.output}" for r in splits["train"].itertuples())
    speaker = build(how.source, words, how.local_data)
    encoded, left = {}, {}
    for name, rows in splits.items():
        encoded[name], left[name] = encode(speaker, rows, style, how.max_tokens)
        if not len(encoded[name].labels):
            raise UserError(
                f"no prompt of the {name} instructions leaves room for a response within max_tokens "
                f"{how.max_tokens}: raise profiles.<profile>.lm.max_tokens, or set its prompt to plain, in "
                "params.yaml"
            )
    completed = _completed(style, splits["test"], prompts)
    frequencies = {"frequencies": arrays.frequencies(encoded["train"], speaker.vocabulary)}
    specials = [number for number in (speaker.begin, speaker.end) if number is not None]
    check_known(speaker.tokenizer, frequencies["frequencies"], specials)
    with atomic_folder(out) as folder:
        (folder / "prompts.json").write_text(json.dumps(completed, indent=1) + "\n")
        meta = {
            "dataset": how.dataset,
            "tokenizer": how.tokenizer,
            "profile": how.profile,
            "vocabulary": speaker.vocabulary,
            "begin": speaker.begin,
            "end": speaker.end,
            "max_tokens": how.max_tokens,
            "texts": {name: len(found.labels) for name, found in encoded.items()},
            **facts,
            **{key: {name: left[name][key] for name in SPLITS} for key in ("cut", "crowded")},
            "digest": arrays.write(folder, speaker.tokenizer, arrays.named(encoded) | frequencies),
        }
        (folder / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")
    print(_summary(meta))


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


def encode(speaker: Speaker, rows: pd.DataFrame, style: Style, max_tokens: int) -> tuple[Encoded, dict[str, int]]:
    """Prompts with their responses, at most max_tokens tokens each.

    Returns:
        the texts, and how many responses were `cut` to the context, and how many texts left out (`crowded`), as
        their prompt leaves no room for a response.
    """
    before = speaker.encode([prompt(style, row.instruction, row.input) for row in rows.itertuples()])
    responses = speaker.encode(rows["output"].tolist())
    first = [] if speaker.begin is None else [speaker.begin]
    texts = []
    starts = []
    left = {"cut": 0, "crowded": 0}
    for before_it, answer in zip(before, responses, strict=True):
        start = len(first) + len(before_it)
        whole = [*first, *before_it, *answer, speaker.end]
        if start >= max_tokens:
            left["crowded"] += 1
            continue
        left["cut"] += len(whole) > max_tokens
        texts.append(whole[:max_tokens])
        starts.append(start)
    tokens = np.fromiter(chain.from_iterable(texts), arrays.number_type(speaker.vocabulary))
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return Encoded(tokens, offsets, np.array(starts, dtype=np.int64)), left


def _completed(style: Style, test: pd.DataFrame, prompts: pd.DataFrame | None) -> list[dict[str, str]]:
    """What models complete: the prompts, or without any the test instructions as models learn them. `instruction`
    is in AlpacaEval's form, which has the input in it."""
    if prompts is not None:
        return [row | {"prompt": prompt(style, row["instruction"])} for row in prompts.to_dict("records")]
    merged = test["instruction"].where(test["input"] == "", test["instruction"] + "\n\n" + test["input"])
    said = [prompt(style, row.instruction, row.input) for row in test.itertuples()]
    found = pd.DataFrame({"instruction": merged.to_numpy(), "dataset": "test", "prompt": said})
    return found.drop_duplicates("instruction").to_dict("records")


def _raw(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame | None, dict[str, Any]]:
    try:
        facts = json.loads((folder / "source.json").read_text())
        prompts = folder / "prompts.parquet"
        table = pd.read_parquet(folder / "instructions.parquet").map(lambda text: text[:LONGEST])
        found = pd.read_parquet(prompts).map(lambda text: text[:LONGEST]) if prompts.exists() else None
        return table, found, {key: facts[key] for key in ("synthetic", "origin", "dropped")}
    except (OSError, ValueError, TypeError, KeyError, RecursionError, pa.ArrowException):
        raise UserError(
            f"{folder} is missing or incomplete: run `dvc repro --force download_lm@{folder.name}`"
        ) from None


def _summary(meta: dict[str, Any]) -> str:
    texts, cut, crowded = (sum(meta[key].values()) for key in ("texts", "cut", "crowded"))
    lines = [f"{texts:,} instructions; the responses of {cut:,} ({cut / texts:.1%}) were cut to the context of"]
    lines[0] += f" {meta['max_tokens']} tokens"
    if crowded:
        lines.append(f"{crowded:,} were left out, as their prompt fills that context")
    lines += [f"{count:,} were left out for an {reason}" for reason, count in meta["dropped"].items()]
    return "\n".join(lines)
