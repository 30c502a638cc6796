"""Tiny instructions, a tiny Llama and the parameters for them, for the tests of the language model."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from descent.cells import LM, Cell, lm_cells, scores_file
from descent.config import Params
from descent.runner import items, scores
from descent.runner.items import Item
from descent.tasks.lm import completions
from descent.tasks.lm import evaluate as evaluation
from descent.tasks.lm import items as lm
from descent.tasks.lm import prepare as tokenize_lm
from descent.tasks.lm import raw as instruction_sources
from descent.tasks.lm.data import FOLDER, Instructions, load
from descent.tasks.lm.schema import GenerateInstructions, InstructionSource
from descent.training.devices import choose
from descent.training.noise import seeded
from tests.fakes.core import PRIMAL_DUAL, enter_project, small_params

CPU = torch.device("cpu")
VOCABULARY, LONGEST, LAYERS = 320, 96, 3
RAW = Path("data/raw/alpaca")
SIZE = {"width": 16, "heads": 2, "key_value_heads": 1, "feedforward": 24}
LORA = {"rank": 2, "scale": 4.0, "dropout": 0.1}
DUAL = PRIMAL_DUAL | {"alpha": 0.1, "R0": 7.0, "resilience": "decay", "rho": 3.0, "warmup_epochs": 0}
LM_VALUES = {
    "lm.eps": 0.25,
    "lm.seeds": [0],
    "lm.validation_share": 0.1,
    "lm.test_share": 0.1,
    "lm.report": "final",
    "lm.length_pool": 2,
    "lm.validation_batch": 7,
    "lm.readout_layers": "all",
    "lm.readout_tokens": "all",
    "lm.logits_at_once": 13,
    "lm.evaluation": {"gammas": [0.0, 1.0], "noise_draws": 2, "seed": 5, "batch": 5, "bootstrap": 20},
    "lm.completions": {"gammas": [0.25, 1.0], "prompts": 5, "max_tokens": 6, "batch": 3},
    "primal_dual.causal_lm": DUAL,
    "profiles.demo.lm": {
        "data": {"generate": {"seed": 3, "instructions": 120}},
        "prompt": "plain",
        "max_tokens": LONGEST,
        "tokenizer": {"train": {"kind": "bpe", "vocabulary": VOCABULARY}},
        "layers": LAYERS,
        "weights": {"random": SIZE},
        "lora": None,
        "batch": 4,
        "epochs": 2,
        "lr": 0.01,
        "dual_lr": 0.05,
    },
}


def lm_params(changes: dict[str, Any] | None = None) -> Params:
    """Small parameters of the language model, then `changes` as in fakes_core."""
    found = small_params(LM_VALUES | (changes or {}))
    if "profiles.demo.lm.primal_dual" in (changes or {}):
        return found
    budget = found.budget.lm.model_copy(update={"primal_dual": {}})
    profile = found.budget.model_copy(update={"lm": budget})
    return found.model_copy(update={"profiles": found.profiles | {"demo": profile}})


def write_tokens(folder: Path, raw: Path, **wanted: Any) -> Instructions:
    """Generated instructions in the files that preprocess_lm writes."""
    source = InstructionSource(generate=GenerateInstructions(seed=3, instructions=120))
    instruction_sources.fetch(source, "", raw)
    budget = lm_params().budget.lm
    asked = {"style": "plain", "max_tokens": LONGEST, "validation_share": 0.1, "test_share": 0.1} | wanted
    tokenize_lm.prepare(raw, folder, budget.tokenizer, local_data="", profile="demo", **asked)
    return load(folder)


def enter_lm_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Instructions:
    """Make a project with tokenised instructions and work in it; the digest of the code is a word."""
    enter_project(folder, monkeypatch)
    monkeypatch.setattr(lm, "digest", lambda modules: "code")
    monkeypatch.setattr(evaluation, "digest", lambda modules: "code")
    return write_tokens(FOLDER, RAW)


def lm_item(params: Params, method: str) -> Item:
    """What the stages make of this word."""
    return lm.item(params, load(), choose(params.device), method)


def train_lm(params: Params, method: str) -> Item:
    """stages.train_lm with these parameters."""
    item = lm_item(params, method)
    items.train(item)
    return item


def evaluate_lm(params: Params, method: str) -> pd.DataFrame:
    """stages.evaluate_lm with these parameters; returns the rows."""
    item, data = lm_item(params, method), load()
    file = scores_file("lm", *LM, method)
    scores.evaluate(item, evaluation.scoring(params, data, item), file)
    completions.write(params, data, item, Path("data/completions") / method)
    return pd.read_parquet(file)


def cell(method: str = "constrained") -> list[Cell]:
    """The one cell of an arm."""
    return lm_cells(lm_params(), *LM, method)


def llama(tied: bool = False, **changes: Any) -> LlamaForCausalLM:
    """The library's own model, of the size of LM_VALUES and every weight at random."""
    size = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_key_value_heads": 1}
    sizes = size | {"num_hidden_layers": LAYERS, "vocab_size": VOCABULARY, "max_position_embeddings": LONGEST}
    ends = {"bos_token_id": 0, "eos_token_id": 2, "tie_word_embeddings": tied, "initializer_range": 0.3}
    with seeded(7):
        model = LlamaForCausalLM(LlamaConfig(**sizes | ends | changes))
        for norm in (model.model.norm, model.model.layers[0].input_layernorm):
            norm.weight.data.uniform_(0.5, 2)
    return model.eval()


def save_llama(folder: Path, **changes: Any) -> LlamaForCausalLM:
    """A local folder as the hub has them."""
    model = llama(**changes)
    model.save_pretrained(folder)
    return model
