"""Table 3's hours: of the stacks that are planned, as long as their data sets' epochs, on batches that are new."""

from pathlib import Path
from typing import Any

import pytest
import torch

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.tasks.video.batches import Batch, DenoisingTask
from descent.tasks.video.feed import feed
from descent.training.noise import VALIDATION
from tests.bench import hours, steps, timing
from tests.fakes.core import DATASET, PARAMS, small_params, write_prepared


def on(kind: str, monkeypatch: pytest.MonkeyPatch) -> Params:
    """The paper's grid with the two arms of Table 3, measured on such a device."""
    for module in (hours, steps, timing):
        monkeypatch.setattr(module, "device", lambda: torch.device(kind))
    arms = ["constrained", "unconstrained"]
    return config.load(PARAMS).model_copy(update={"profile": "paper", "arms": arms})


def test_the_stacks_of_a_gpu_are_36_of_one_seed_and_five_noise_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = hours.planned(on("cuda", monkeypatch), tmp_path)
    stacks = [stack for _, own in work for stack in own]
    levels = [0.0, 0.09, 0.11, 0.13, 0.15]
    assert len(stacks) == 36 and all([cell.eps for cell in stack] == levels for stack in stacks)
    kinds = {(stack[0].dataset, stack[0].model, stack[0].arm, stack[0].layers, stack[0].seed) for stack in stacks}
    assert len(kinds) == 36


@pytest.mark.slow
def test_an_epoch_is_as_long_as_its_data_set_makes_it_and_a_kind_is_timed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper, timed = on("cpu", monkeypatch), []

    def paces(made: Any, params: Params, stack: list, how: str | bool) -> tuple[float, float]:
        timed.append((stack[0].model, stack[0].arm, stack[0].layers, how))
        return 2.0, 0.5

    monkeypatch.setattr(hours, "paces", paces)
    found = hours.seconds(paper, [*hours.planned(paper, tmp_path)], "kernels")
    # UCSD's 14 training clips of 159 frames make 9800 sequences, the two that validate 1400; others are enough.
    training, validation = 1024 + 9800 // 32 + 1024, 128 + 44 + 128
    assert found == pytest.approx(60 * 60 * (2.0 * training + 0.5 * validation)), "60 cells each, of 60 epochs"
    assert len(timed) == len({*timed}) == 2 * 2 * 3


@pytest.mark.parametrize("ahead", [False, True])
def test_every_step_is_on_a_fresh_batch_and_a_look_moves_nothing(
    ahead: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("cpu", monkeypatch)
    seen: list[Batch] = []
    losses = DenoisingTask.losses
    monkeypatch.setattr(
        DenoisingTask, "losses", lambda task, net, batch: seen.append(batch) or losses(task, net, batch)
    )
    draw = steps.drawn_in_turn
    monkeypatch.setattr(steps, "drawn_in_turn", lambda make, count, **_: draw(make, count, ahead))
    params = small_params()
    cells = grid(params, "video", DATASET, "dust")
    stack = [cell for cell in cells if cell.layers == 2 and cell.arm == cells[0].arm]
    made = feed(params, write_prepared(tmp_path), "dust", torch.device("cpu"))
    fed = steps.Fed(made, params, stack)

    def weights() -> list[torch.Tensor]:
        return [value.detach().clone() for value in fed.net.parameters()]

    def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
        return all(map(torch.equal, one, other))

    before = weights()
    for _ in range(4):
        fed.step()
    after = weights()
    assert not same(before, after) and [batch.key for batch in seen] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 0),
    ]
    assert all(len(batch.noisy) == len(stack) == 3 for batch in seen)
    assert not torch.equal(seen[0].noisy, seen[1].noisy)
    fed.look()
    assert same(after, weights()) and seen[-1].key[0] == VALIDATION and not seen[-1].training
