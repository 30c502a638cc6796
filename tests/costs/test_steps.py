"""Timed steps: on one batch of mean size, at the precision of training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from descent.costs import parts, steps
from descent.costs.devices import AtHand
from descent.costs.parts import Costs
from descent.costs.steps import Step
from descent.tasks.common.items import setting
from descent.tasks.text.batches import ClassificationTask
from descent.tasks.video.feed import feed
from tests.fakes.core import DATASET, small_params, write_prepared
from tests.fakes.stacks import stack as of_dust
from tests.fakes.text import cells, fed, text_params, write_tokens

CPU = torch.device("cpu")


def test_one_batch_of_mean_size_is_timed_and_validation_is_measured_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = write_tokens(tmp_path)
    feed, stack = fed(tokens, "ut_text"), cells("ut_text")
    task = feed.task(stack)
    sizes = [task.batch(0, step)[0].numel() for step in range(task.steps)]
    chosen = steps.typical(feed, task)
    assert len({*sizes}) > 1 and chosen != 0, "the first is not typical"
    assert all(abs(sizes[chosen] - np.mean(sizes)) <= abs(size - np.mean(sizes)) for size in sizes)
    drawn: list[tuple[int, int]] = []
    draw = ClassificationTask.batch
    monkeypatch.setattr(
        ClassificationTask, "batch", lambda task, *place: drawn.append(place) or draw(task, *place)
    )
    settings = {cell: setting(text_params(), cell) for cell in stack}
    monkeypatch.setattr(steps, "typical", lambda feed, task: chosen)
    found = steps.timed(feed, stack, [*settings.values()])
    assert {*drawn} == {(0, chosen)} and found.seconds > 0
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(0.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    held_out = sum(batch.ids.numel() for batch, _ in task.validation())
    found = Costs(text_params(), AtHand(CPU, 1))._stack(text_params(), feed, None, stack, settings)
    assert found.seconds == pytest.approx(feed.epochs * held_out / sizes[chosen])


def test_the_forward_is_timed_at_the_precision_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, stack = fed(write_tokens(tmp_path), "ut_text", {"training": {"precision": "bf16"}}), cells("ut_text")
    lowered: dict[bool, set[bool]] = {True: set(), False: set()}
    losses = ClassificationTask.losses

    def watched(task: ClassificationTask, *inputs: Any) -> torch.Tensor:
        lowered[torch.is_grad_enabled()].add(torch.is_autocast_enabled("cpu"))
        return losses(task, *inputs)

    monkeypatch.setattr(ClassificationTask, "losses", watched)
    steps.timed(own, stack, [setting(text_params(), cell) for cell in stack])
    assert lowered == {True: {True}, False: {True}}


def test_memory_is_of_what_the_optimizer_keeps_too(tmp_path: Path) -> None:
    """Of Adam two numbers a weight; of SOAP beside them a basis and a mean of every side, in float32."""
    prepared, kept = write_prepared(tmp_path / DATASET), {}
    for optimizer in ("adam", "soap"):
        params = small_params({"profiles.demo.video.models.dust": {"optimizer": optimizer}})
        stack = of_dust("unconstrained", "dust")
        found = steps.timed(feed(params, prepared, "dust", CPU), stack, [setting(params, cell) for cell in stack])
        kept[optimizer] = found.moments
        rows, columns = (net := feed(params, prepared, "dust", CPU).build(stack)).dictionaries.shape[-2:]
        matrices = net.dictionaries[..., 0, 0].numel()
        assert found.weights == 4 * matrices * rows * columns
    assert kept["adam"] == pytest.approx(2 * found.weights, abs=4), "and the number of the step"
    assert kept["soap"] == 2 * found.weights + 4 * matrices * 2 * (rows**2 + columns**2)
