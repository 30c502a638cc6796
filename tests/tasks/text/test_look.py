"""The answers of every layer to a few texts, against the layers by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from descent.paths import looks_folder
from descent.tasks.common.looks import shown, trained
from descent.tasks.text import look
from tests.fakes.core import serially
from tests.fakes.text import BUDGET, DATASET, by_hand, enter_text_project, evaluate_text, text_params, train_text

ONE = {f"{BUDGET}.seeds": [0], f"{BUDGET}.eps": [], "text.eps": 0.0, f"{BUDGET}.models.ut_text.epochs": 1}


def test_probabilities_are_those_of_the_layers_and_words_those_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serially(monkeypatch)
    tokens, params = enter_text_project(tmp_path / "project", monkeypatch), text_params(ONE)
    item = train_text(params, "ut_text")
    evaluate_text(params, "ut_text")
    texts = tokens.split("test")
    chosen = look._chosen(texts.labels)
    for cell in shown(params, item):
        assert cell.layers == 3
        rows = json.loads((looks_folder("text", DATASET) / "ut_text" / f"{cell.arm}.json").read_text())
        net = trained(item, cell)
        for number, row in zip(chosen, rows, strict=True):
            ids = texts.tokens[texts.offsets[number] : texts.offsets[number + 1]]
            logits = by_hand(net, 0, net.table[0].detach().numpy()[ids])
            shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(row["probabilities"], shares, atol=2e-5)
            assert (
                row["words"] == " ".join(f"w{word}" for word in ids[1:-1]) and row["label"] == texts.labels[number]
            )


def test_classes_take_turns() -> None:
    labels = np.array([1, 1, 1, 0, 2, 0])
    assert look._chosen(labels).tolist() == [3, 0, 4, 5]
