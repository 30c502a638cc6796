"""Estimates of a GPU: of one that is not there, of stacks that share one, and of what stays on it."""

from pathlib import Path

import pytest
import torch

from descent.config import load
from descent.costs import devices, parts
from descent.costs.data import resident
from descent.costs.devices import REFERENCE
from descent.costs.parts import Costs
from descent.costs.steps import Step
from descent.costs.table import lines
from tests.fakes.core import (
    CLIPS,
    PARAMS,
    PATCH,
    SIZE,
    TOKENS,
    enter_project,
    small_params,
)
from tests.fakes.costs import CPU, DUST, enter_demo, part


def write_bench(path: Path, *rows: str) -> None:
    """A table of reference steps: their seconds, device and precision."""
    path.write_text("\n".join(["measure,value,device,precision", *(f"{REFERENCE},{row}" for row in rows)]))


def test_where_a_gpu_is_stood_in_for_its_reference_and_the_parts_are_timed_on_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: float(asked == [1]))
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(parts, "threads", lambda planned: 2)
    write_bench(Path("data/bench.csv"), "0.005,NVIDIA H200,float32")
    params = small_params(DUST | {"device": "cuda"})
    here = devices.at_hand(params)
    assert here.factor == 0.005, "one thread was asked for before the reference was timed"
    stood_in = [*Costs(params, here).parts()]
    assert asked == [1, 1]
    alone = [*Costs(params, devices.AtHand(CPU, 1)).parts()]
    for word in ("training", "scoring"):
        own, here_alone = ([getattr(one, word) for one in each] for each in (stood_in, alone))
        assert own == pytest.approx([0.005 * seconds for seconds in here_alone]) and min(own) > 0
    [*Costs(params, devices.AtHand(here.device, 4)).parts()]
    assert asked[-1] == 2, "of a CPU's own estimate, as many as the executor gives"


def test_a_gpu_that_is_not_there_is_stood_in_for_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "bench.csv"
    monkeypatch.setattr(devices, "TABLE", table)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: 0.5)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    params = small_params(DUST | {"device": "cuda"})
    write_bench(table, "0.4,cpu,float32")
    assert devices.at_hand(params).factor == 1.0
    assert "no step measured" in devices.at_hand(params).told
    write_bench(table, "0.002,NVIDIA H200,bf16", "0.005,NVIDIA H200,float32")
    here = devices.at_hand(params)
    assert here.factor == pytest.approx(0.01) and "NVIDIA H200 (0.005 s in float32" in here.told
    write_bench(table, "0.002,NVIDIA H200,bf16")
    assert "(0.002 s in bf16" in devices.at_hand(params).told, "of another precision, and it is said"


def test_stacks_share_a_gpu_as_their_model_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = small_params(DUST | {"gpu_share": {"default": 1.0, "dust": 0.33}})
    gpu = torch.device("cuda")
    assert devices.side_by_side(params, gpu, 2, "dust") == 6
    assert devices.side_by_side(params, gpu, 2, "vit") == 2
    assert devices.side_by_side(params, CPU, 2, "dust") == 2
    enter_project(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda feed, stack, settings: Step(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    asked: list[str] = []
    alone = part(params)
    monkeypatch.setattr(parts, "side_by_side", lambda params, device, places, model: asked.append(model) or 6)
    shared = part(params)
    assert (alone.slots, shared.slots, asked) == (2, 6, ["dust"])
    assert (shared.training, shared.scoring) == (alone.training, alone.scoring), "sharing a GPU is not free"
    assert shared.memory == 2 * alone.memory, "the four stacks that there are"


def test_memory_is_also_of_held_out_data_and_on_a_gpu_of_its_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_demo(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    held_out = 10 * TOKENS * PATCH**2 * 4 * (3 + 1)  # noisy ones of three cells, and clean ones of all
    frames = (sum(CLIPS["train"]) + sum(CLIPS["validation"])) * SIZE**2
    assert part(small_params(DUST)).memory == 2 * held_out
    assert part(small_params(DUST | {"device": "cuda"})).memory == 2 * (held_out + frames), "of a GPU elsewhere"


def test_frames_stay_on_a_gpu_as_far_as_training_keeps_them(tmp_path: Path) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    every = 330 * (274515 // 330) * 160**2
    for free, kept in ((None, every), (4 * every, every), (4 * every - 4, 0), (0, 0)):
        assert resident(params, "shanghaitech", "dust", None, free) == kept
    assert resident(params, "imdb", "ut_text", None, None) == 0


def test_prepared_data_are_timed_here_where_the_gpu_that_is_asked_for_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_demo(tmp_path, monkeypatch)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: 0.5)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    write_bench(Path("data/bench.csv"), "0.005,NVIDIA H200,float32")
    found = [*lines(small_params(DUST | {"device": "cuda"}))]
    assert "the ratio of the reference step on NVIDIA H200" in found[0]
    assert found[2].split()[3:5] == ["12", "12"]
