"""The logit lens: what every layer would say next, against the model's own readout."""

import json
from pathlib import Path

import pytest
import torch

from descent.paths import looks_folder
from descent.tasks.common.looks import shown, trained
from descent.tasks.lm import look
from tests.fakes.core import serially
from tests.fakes.lm import BUDGET, enter_lm_project, evaluate_lm, lm_params, train_lm


@pytest.mark.slow
def test_tokens_are_the_likeliest_of_each_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serially(monkeypatch)
    data, params = enter_lm_project(tmp_path, monkeypatch), lm_params({f"{BUDGET}.epochs": 1, "lm.eps": 0.0})
    item = train_lm(params)
    evaluate_lm(params)
    texts, tokenizer = data.split("test"), data.speaker().tokenizer
    cells = shown(params, item)
    assert [cell.arm for cell in cells] == params.arms
    for cell in cells:
        told = json.loads((looks_folder("lm", data.name) / cell.model / f"{cell.arm}.json").read_text())
        net, count = trained(item, cell), len(told["targets"])
        lengths = (texts.lengths - texts.labels).tolist()
        number = next(place for place, length in enumerate(lengths) if length >= min(look.TOKENS, max(lengths)))
        ids = torch.tensor(texts.tokens[texts.offsets[number] : texts.offsets[number + 1]].astype(int))
        start = int(texts.labels[number])
        with torch.no_grad():
            states = net.states(net.embed(ids[None]))
            logits = torch.stack([net.readout(state[0, 0, start - 1 : start - 1 + count]) for state in states])
        best = logits.softmax(-1).max(-1)
        assert told["prompt"] == tokenizer.decode(ids[:start].tolist())
        assert told["targets"] == [tokenizer.decode([word]) for word in ids[start : start + count].tolist()]
        words = [
            [tokenizer.decode([word], skip_special_tokens=False) for word in row] for row in best.indices.tolist()
        ]
        assert told["tokens"] == words
        torch.testing.assert_close(torch.tensor(told["probabilities"]), best.values, atol=2e-5, rtol=0)
