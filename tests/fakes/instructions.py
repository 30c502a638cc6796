"""Demo instructions as the stages leave them, raw and in tokens."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.lm.data import Instructions, load
from descent.tasks.lm.prepare import Tokenising, prepare
from descent.tasks.lm.raw import fetch
from descent.tasks.lm.schema import GenerateInstructions, Source

COUNT, LONGEST, VOCABULARY = 120, 96, 320
SPOKEN = TokenizerSource(train=TrainTokenizer(kind="bpe", vocabulary=VOCABULARY))
TOKENISING = Tokenising("alpaca", "llama", SPOKEN, LONGEST, 0.1, "", "demo", "plain", 0.1)


def write_instructions(folder: Path, raw: Path, **wanted: Any) -> Instructions:
    """Generated instructions in `raw`, and in `folder` what models read; `wanted` is of prepare.Tokenising."""
    fetch("alpaca", Source(generate=GenerateInstructions(seed=3, instructions=COUNT)), "", raw)
    prepare(raw, folder, replace(TOKENISING, **wanted))
    return load(folder)
