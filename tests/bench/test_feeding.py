"""What the bench of feeding takes for fresh: every cell's own batches, new at each step."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from descent import config
from tests.bench import feeding, steps, timing
from tests.fakes.core import PARAMS


def test_fresh_batches_are_every_cell_s_own_and_one_batch_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[torch.Tensor] = []
    for module in (feeding, steps, timing):
        monkeypatch.setattr(module, "device", lambda: torch.device("cpu"))
    monkeypatch.setattr(steps.Steps, "learn", lambda self, batch, epoch, lr: seen.append(batch.noisy))

    def paced(call: Callable[[], None], seconds: float) -> float:
        call(), call()
        return float(len(seen))  # 2 of one batch, then 4

    monkeypatch.setattr(feeding, "per_second", paced)
    assert feeding.fed_over_alone(config.load(PARAMS), 3, tmp_path) == 2 / 4
    one, again, *fresh = seen
    assert one is again and len(one) == 3
    assert not torch.equal(*fresh) and not torch.equal(fresh[0][0], fresh[0][1]), "by the step, and by the cell"
