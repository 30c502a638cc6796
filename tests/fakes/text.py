"""A tiny tokenised data set and the parameters for it, for the tests of text classification."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import Tensor, nn

from descent import paths
from descent.cells import Cell
from descent.config import Params
from descent.models.parts.text import Embedded
from descent.models.ut_text import TextUT
from descent.runner.items import Feed, Item
from descent.tasks.common import feeding, shifted
from descent.tasks.text.data import Tokens, load
from descent.tasks.text.feed import feed
from tests.fakes.core import PRIMAL_DUAL, enter_project, evaluate_cells, item_of, small_params, train_cells

DATASET, VOCABULARY, LONGEST = "imdb", 14, 24
PAD, FIRST, LAST = 0, 1, 2  # special tokens
TELLING = (12, 13)  # the token that tells a text's class, one a class
TEXTS = {"train": 43, "validation": 14, "test": 17}
CPU = torch.device("cpu")
LAYERS = 2

DUAL = PRIMAL_DUAL | {"alpha": 0.1, "R0": 0.6, "resilience": "decay", "rho": 3.0, "warmup_epochs": 0}
RATES = {"lr": 0.02, "arms": {"constrained": {"dual_lr": 0.05}}, "batch": 8, "epochs": 3}
ENCODER = RATES | {
    "layers": [LAYERS],
    "weights": {"random": {"width": 8, "heads": 2, "feedforward": 12}},
    "dropout": 0.1,
    "epochs": 2,
}
STUDY = {"task": "text", "dataset": DATASET, "model": "ut_text", "eps": 0.4}
BUDGET = "profiles.demo.text"
ARMS = ("constrained", "unconstrained")
SHORT = {f"{BUDGET}.seeds": [0], f"{BUDGET}.models.ut_text.layers": [2], f"{BUDGET}.models.ut_text.epochs": 1}
RATE = {"text.search": {"arms": {"constrained": ["dual_lr", "rho"], "unconstrained": ["lr"]}}}
TEXT = {
    "text.eps": 0.4,
    "text.datasets": [DATASET],
    "text.models": ["ut_text", "distilbert", "roberta"],
    "text.tolerance": 0.02,
    "text.selection": "best",
    "text.length_pool": 2,
    "text.validation_batch": 4,
    "text.search": {
        "startup_trials": 2,
        "seed": 0,
        "ranges": {
            "dual_lr": {"low": 0.1, "high": 10.0},
            "rho": {"low": 0.25, "high": 4.0},
            "lr": {"low": 0.3, "high": 3.0},
        },
        "arms": {"constrained": ["dual_lr", "rho"]},
    },
    "text.evaluation": {
        "gammas": [0.0, 1.0, 2.0],
        "shifts": ["gaussian"],
        "noise_draws": 2,
        "seed": 5,
        "batch": 5,
        "bootstrap": 7,
    },
    "models.ut_text": {
        "tokenizer": "bert",
        "embeddings": "frozen",
        "embedding_std": 0.5,
        "residual": True,
        "exact_beta": False,
        "decouple": False,
    },
    "models.roberta.tokenizer": "bert",
    "objectives.constrained.models": {name: dict(DUAL) for name in ("ut_text", "distilbert", "roberta")},
    "objectives.constrained.datasets": {},
    "study.alpha": STUDY,
    "study.dual_lr": STUDY,
    "study.resilience": STUDY,
    BUDGET: {"max_tokens": LONGEST, "eps": [0.0], "seeds": [0, 1]},
    f"{BUDGET}.models.ut_text": RATES | {"layers": [LAYERS, 3], "embeddings": {"width": 6}},
    f"{BUDGET}.models.distilbert": ENCODER,
    f"{BUDGET}.models.roberta": ENCODER,
    "profiles.demo.studies.alpha": {"values": [0.05, 0.1], "seeds": [0]},
    "profiles.demo.studies.dual_lr": {"values": [0.01, 0.05], "seeds": [0]},
    "profiles.demo.studies.resilience": {"values": ["none", "decay"], "seeds": [0]},
}


def text_params(changes: dict[str, Any] | None = None) -> Params:
    """Small parameters of text classification, then `changes` as in fakes.core."""
    changes = changes or {}
    whole = {key: value | changes.get(key, {}) for key, value in TEXT.items() if isinstance(value, dict)}
    return small_params(TEXT | changes | whole)


def write_tokens(folder: Path, seed: int = 0) -> Tokens:
    """Texts of 4 to 11 tokens, one of which tells the class, in the files that preprocess_text writes."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, digest = np.random.default_rng(seed), hashlib.sha256()
    for split, count in TEXTS.items():
        texts, labels = [], rng.integers(0, 2, count)
        for label in labels:
            words = rng.integers(3, min(TELLING), rng.integers(2, 10))
            words[rng.integers(len(words))] = TELLING[label]
            texts.append([FIRST, *words, LAST])
        tokens = np.concatenate(texts).astype(np.int32)
        np.save(folder / f"{split}_tokens.npy", tokens)
        np.save(folder / f"{split}_offsets.npy", np.cumsum([0, *map(len, texts)]))
        np.save(folder / f"{split}_labels.npy", labels)
        digest.update(tokens.tobytes())
        if split == "train":
            np.save(folder / "frequencies.npy", np.bincount(tokens, minlength=VOCABULARY))
    meta = {
        "dataset": DATASET,
        "tokenizer": "bert",
        "vocabulary": VOCABULARY,
        "pad": PAD,
        "classes": ["bad", "good"],
        "max_tokens": LONGEST,
        "texts": TEXTS,
        "synthetic": True,
        "digest": digest.hexdigest(),
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    words = ["[PAD]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(3, VOCABULARY)), "[UNK]"]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token=words[-1]))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(words[:3])
    tokenizer.save(str(folder / "tokenizer.json"))
    return load(folder)


def enter_text_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """Make a project with the tokenised data set and work in it; its store of cells is its own.

    The digest of the code, which takes longer than training here, is a word.
    """
    enter_project(folder, monkeypatch)
    monkeypatch.setattr(feeding, "digest", lambda modules: "code")
    monkeypatch.setattr(shifted, "digest", lambda modules: "code")
    return write_tokens(paths.prepared_folder(text_params(), "text", DATASET, "ut_text"))


def text_item(params: Params, word: str) -> Item:
    """What the training stages make of a model, or of the name of a study."""
    return item_of(params, word) if word in params.study else item_of(params, "text", DATASET, word)


def train_text(params: Params, word: str) -> Item:
    """stages.train of a model, or stages.train_studies."""
    return train_cells(params, *([word] if word in params.study else ["text", DATASET, word]))


def evaluate_text(params: Params, word: str) -> pd.DataFrame:
    """stages.evaluate where this model is the only one, or stages.evaluate_studies; returns the rows."""
    if word in params.study:
        return evaluate_cells(params, word)
    alone = params.model_copy(update={"text": params.text.model_copy(update={"models": [word]})})
    return evaluate_cells(alone, "text", DATASET)


def scored(word: str, **changes: object) -> pd.DataFrame:
    return evaluate_text(text_params(SHORT | changes), word)


def fed(tokens: Tokens, model: str, changes: dict[str, Any] | None = None) -> Feed:
    """How params.yaml has the cells of a model made and fed."""
    return feed(text_params(changes), tokens, model, CPU)


def built(tokens: Tokens, model: str, seeds: Sequence[int] = (0,), **changes: Any) -> nn.Module:
    """A stack of a model, one cell for each seed; `changes` are of its budget."""
    asked = {f"{BUDGET}.models.{model}.{key}": value for key, value in changes.items()}
    return fed(tokens, model, asked).build(cells(model, seeds))


def cells(model: str, seeds: Sequence[int] = (0,)) -> list[Cell]:
    """One cell of a text model for each seed."""
    return [Cell("text", DATASET, model, "constrained", LAYERS, 0.4, seed) for seed in seeds]


def padding_waste(lengths: np.ndarray, batches: Sequence[np.ndarray]) -> float:
    """Which share of the positions of all batches is padding."""
    positions = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    return 1 - sum(int(lengths[batch].sum()) for batch in batches) / positions


def normal(*shape: int, seed: int = 1) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def shaken(model: nn.Module) -> nn.Module:
    """The model with every parameter moved, biases too, and without dropout."""
    for seed, parameter in enumerate(model.parameters()):
        parameter.data += 0.2 * normal(*parameter.shape, seed=seed)
    return model.eval()


def inputs(tokens: Tokens) -> tuple[Tensor, Tensor]:
    """Five texts of different lengths, and which of their tokens are real."""
    texts = tokens.split("train")
    ids, lengths, _ = texts.gather(np.array([0, 3, 7, 8, 12]))
    assert len(lengths.unique()) > 2
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def logits(model: nn.Module, ids: Tensor, mask: Tensor, noise: Tensor | float = 0.0) -> Tensor:
    """(cells, layers, batch, classes), the layers read out one by one."""
    each = torch.zeros(len(model.head.bias), 1, 1, 1)  # a frozen table is one for all cells, its noise is not
    states = model.states(Embedded(model.embed(ids) + noise + each, mask))
    return torch.stack([model.readout(state) for state in states], dim=1)


def by_hand(model: TextUT, cell: int, vectors: np.ndarray) -> list[np.ndarray]:
    """Logits of every layer for one text without padding, token by token, from eq. (47)-(48)."""
    unrolled, head = model.unrolled, model.head
    wa, wf, b = (p[cell, 0].detach().numpy() for p in (unrolled.attention, unrolled.feedforward, unrolled.bias))
    weight, bias = head.weight[cell].detach().numpy(), head.bias[cell].detach().numpy()
    y, found = vectors, []
    for layer in range(unrolled.layers + 1):
        if layer:
            half = np.zeros_like(y)
            for i in range(len(y)):
                scores = np.array([np.dot(wa @ y[i], wa @ y[j]) for j in range(len(y))])
                shares = np.exp(scores - scores.max())
                half[i] = sum(share * row for share, row in zip(shares / shares.sum(), y, strict=True))
            y = np.array([np.maximum(row - (wf + wf.T) / 2 @ row + b, 0) for row in half])
        found.append(sum(y) / len(y) @ weight + bias)
    return found
