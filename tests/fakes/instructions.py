"""Demo instructions as the stages leave them, raw and in tokens."""

from pathlib import Path
from typing import Any

from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.lm.data import Instructions, load
from descent.tasks.lm.prepare import prepare
from descent.tasks.lm.raw import fetch
from descent.tasks.lm.schema import GenerateInstructions, Source

COUNT, LONGEST, VOCABULARY = 120, 96, 320
SPOKEN = TokenizerSource(train=TrainTokenizer(kind="bpe", vocabulary=VOCABULARY))


def write_instructions(folder: Path, raw: Path, **wanted: Any) -> Instructions:
    """Generated instructions in `raw`, and in `folder` what models read; `wanted` is of prepare.prepare."""
    fetch("alpaca", Source(generate=GenerateInstructions(seed=3, instructions=COUNT)), "", raw)
    asked = {"style": "plain", "max_tokens": LONGEST, "validation_share": 0.1, "test_share": 0.1} | wanted
    prepare("alpaca", raw, folder, SPOKEN, "llama", local_data="", profile="demo", **asked)
    return load(folder)
