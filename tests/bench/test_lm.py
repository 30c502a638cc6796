"""The benchmark of the language model at the paper's shape, so much narrower that a test can make its step."""

from pathlib import Path

import pytest
import torch

from descent import config
from descent.cells import grid
from descent.tasks.lm.feed import feed
from tests.bench import lm, steps, timing

SHRINK = 64


@pytest.mark.parametrize("draws", lm.DRAWS)
def test_both_arms_step_at_the_shape_of_llama(tmp_path: Path, draws: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lm, steps, timing):
        monkeypatch.setattr(module, "device", lambda: torch.device("cpu"))
    own, texts = lm.as_llama(config.load(), tmp_path, SHRINK)
    assert grid(own, "lm", "alpaca", lm.MODEL)[0].layers == 32
    own = own.model_copy(update={"lm": own.lm.model_copy(update=lm.DRAWS[draws])})
    own = lm.extrapolated.with_budget(own, lm.MODEL, {"layers": [3]})
    made, cell = feed(own, texts, lm.MODEL, torch.device("cpu")), grid(own, "lm", "alpaca", lm.MODEL)[0]
    net = made.build([cell])
    assert made.batch == own.budget.lm.batch and (net.layers, net.width) == (3, 4096 // SHRINK)
    assert net.head.shape == (128256 // SHRINK, 4096 // SHRINK)
    trained = [name for name, value in net.named_parameters() if value.requires_grad]
    assert trained and all("lora" in name for name in trained)
    constrained, unconstrained = lm.steppers(own, texts)
    sizes = [lm.peak(step, tmp_path) for step in (constrained, unconstrained)]
    assert sizes[0] > sizes[1] > 0
