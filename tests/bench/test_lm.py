"""The benchmark of the language model at the paper's shape, so much narrower that a test can make its step."""

from pathlib import Path
from typing import Any

import pytest
import torch

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.models import causal_lm
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.feed import feed
from tests.bench import lm, paper, steps, timing

SHRINK = 64


def as_llama(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Params, Instructions]:
    """The shape but for its depth, to be measured on such a device."""
    for module in (lm, steps, timing):
        monkeypatch.setattr(module, "device", lambda: torch.device(kind))
    own, texts = paper.shaped(config.load(), "alpaca", lm.MODEL, folder, SHRINK)
    assert grid(own, "lm", "alpaca", lm.MODEL)[0].layers == 32
    return own.with_budget(lm.MODEL, {"layers": [3]}), texts


def test_it_has_llamas_shape_and_is_made_on_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, texts = as_llama(tmp_path, "meta", monkeypatch)
    net = lm.built(own, texts)
    assert feed(own, texts, lm.MODEL, torch.device("cpu")).batch == own.budget.lm.batch
    assert (net.layers, net.width) == (3, 4096 // SHRINK)
    assert net.head.shape == (128256 // SHRINK, 4096 // SHRINK)
    trained = [name for name, value in net.named_parameters() if value.requires_grad]
    assert trained and all("lora" in name for name in trained)
    assert {value.device.type for value in [*net.parameters(), *net.buffers()]} == {"meta"}, "nothing on the host"


@pytest.mark.slow
def test_it_is_built_once_and_both_arms_step_with_everything_that_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, texts = as_llama(tmp_path, "cpu", monkeypatch)
    built: list[object] = []
    rows: list[tuple[str, str, float]] = []

    class Counted(causal_lm.LlamaForCausalLM):
        def __init__(self, *given: Any) -> None:
            built.append(self)
            super().__init__(*given)

    def once(first: Any, second: Any) -> tuple[float, float, float]:
        first(), second()
        return 1.2, 1.0, 1.2

    monkeypatch.setattr(causal_lm, "LlamaForCausalLM", Counted)
    monkeypatch.setattr(lm, "ratio", once)
    monkeypatch.setattr(lm, "record", lambda measure, of, value, *rest: rows.append((measure, of, value)))
    lm.compare_draws(own, texts, "narrow", tmp_path)
    assert len(built) == 1
    assert [of for _, of, _ in rows[::2]] == [f"causal LM, narrow, readout of {draws}" for draws in lm.DRAWS]
    memory = [value for measure, _, value in rows if "memory" in measure]
    assert len(memory) == len(lm.DRAWS) and memory[0] > 1 == min(memory), "of few tokens the peak is elsewhere"


def test_the_draws_are_those_of_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, texts = as_llama(tmp_path, "cpu", monkeypatch)
    asked: list[tuple[object, object]] = []
    monkeypatch.setattr(
        lm, "compare", lambda values, *rest: asked.append((values.lm.readout_tokens, values.lm.readout_layers))
    )
    lm.compare_draws(own, texts, "narrow", tmp_path)
    assert asked == [("all", "all"), (64, "all"), (64, 2)]
