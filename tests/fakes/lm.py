"""Tiny instructions, a tiny Llama and the parameters for them, for the tests of the language model."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from descent import paths
from descent.cells import Cell
from descent.config import Params
from descent.models.causal_lm import CausalLM
from descent.runner.items import Feed, Item
from descent.tasks.common import feeding, shifted
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.feed import feed
from descent.training.noise import seeded
from tests.fakes.core import PRIMAL_DUAL, enter_project, evaluate_cells, item_of, small_params, train_cells
from tests.fakes.instructions import COUNT, LONGEST, VOCABULARY, write_instructions

CPU = torch.device("cpu")
DATASET, MODEL, LAYERS = "alpaca", "causal_lm", 3
SIZE = {"width": 16, "heads": 2, "key_value_heads": 1, "feedforward": 24}
LORA = {"rank": 2, "scale": 4.0, "dropout": 0.1}
DUAL = PRIMAL_DUAL | {"alpha": 0.1, "R0": 7.0, "resilience": "decay", "rho": 3.0, "warmup_epochs": 0}
BUDGET = f"profiles.demo.lm.models.{MODEL}"
LM_VALUES = {
    "lm.eps": 0.25,
    "lm.datasets": [DATASET],
    "lm.models": [MODEL],
    "lm.validation_share": 0.1,
    "lm.test_share": 0.1,
    "lm.selection": "final",
    "lm.length_pool": 2,
    "lm.validation_batch": 7,
    "lm.readout_layers": "all",
    "lm.readout_tokens": "all",
    "lm.logits_at_once": 13,
    "lm.evaluation": {
        "gammas": [0.0, 1.0],
        "shifts": ["gaussian"],
        "noise_draws": 2,
        "seed": 5,
        "batch": 5,
        "bootstrap": 20,
    },
    "lm.completions": {"gammas": [0.25, 1.0], "prompts": 5, "max_tokens": 6, "batch": 3},
    "models.causal_lm.tokenizer": "llama",
    f"objectives.constrained.models.{MODEL}": DUAL,
    f"profiles.demo.data.{DATASET}": {"generate": {"seed": 3, "instructions": COUNT}},
    "profiles.demo.lm": {
        "prompt": "plain",
        "max_tokens": LONGEST,
        "eps": [],
        "seeds": [0],
        "batch": 4,
        "epochs": 2,
        "tokenizers": {"llama": {"train": {"kind": "bpe", "vocabulary": VOCABULARY}}},
    },
    BUDGET: {
        "layers": [LAYERS],
        "weights": {"random": SIZE},
        "lora": None,
        "lr": 0.01,
        "arms": {"constrained": {"dual_lr": 0.05}},
    },
}


def lm_params(changes: dict[str, Any] | None = None) -> Params:
    """Small parameters of the language model, then `changes` as in fakes.core."""
    return small_params(LM_VALUES | (changes or {}))


def enter_lm_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Instructions:
    """Make a project with tokenised instructions and work in it; the digest of the code is a word."""
    enter_project(folder, monkeypatch)
    monkeypatch.setattr(feeding, "digest", lambda modules: "code")
    monkeypatch.setattr(shifted, "digest", lambda modules: "code")
    prepared = paths.prepared_folder(lm_params(), "lm", DATASET, MODEL)
    return write_instructions(prepared, Path("data/raw") / DATASET)


def lm_item(params: Params) -> Item:
    """What the training stage makes of the language model."""
    return item_of(params, "lm", DATASET, MODEL)


def train_lm(params: Params) -> Item:
    """stages.train of the language model."""
    return train_cells(params, "lm", DATASET, MODEL)


def evaluate_lm(params: Params) -> pd.DataFrame:
    """stages.evaluate of the instructions, which writes completions too; returns the rows."""
    return evaluate_cells(params, "lm", DATASET)


def cell(arm: str = "constrained") -> list[Cell]:
    """The one cell of an arm."""
    return [Cell("lm", DATASET, MODEL, arm, LAYERS, 0.25, 0)]


def fed(data: Instructions, changes: dict[str, Any] | None = None) -> Feed:
    """How params.yaml has the cells of the language model made and fed."""
    return feed(lm_params(changes), data, MODEL, CPU)


def built(data: Instructions, **changes: Any) -> CausalLM:
    """The model of one cell; `changes` are of its budget."""
    return fed(data, {f"{BUDGET}.{key}": value for key, value in changes.items()}).build(cell())


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
