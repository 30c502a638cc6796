"""Which devices stacks go to: all GPUs of a host, one of them, or the CPU; what is not there is told."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError, sentence
from descent.runner import executor
from descent.runner.executor import Way, jobs, run_all
from descent.runner.shares import share
from descent.training.devices import choose, visible
from tests.fakes.core import small_params

STACKS = [[Cell("video", "ucsd", "dust", "constrained", layers, 0.0, 0)] for layers in range(1, 7)]


def gpus(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


@pytest.mark.parametrize(("word", "found"), [("auto", [0, 1, 2]), ("cuda", [0, 1, 2]), ("cuda:1", [1])])
def test_cuda_is_every_gpu_and_a_number_is_one(
    word: str, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(3, monkeypatch)
    assert visible(word) == [torch.device("cuda", index) for index in found]
    assert visible("cpu") == [torch.device("cpu")]
    assert choose(word) == torch.device("cuda:1" if ":" in word else "cuda") and choose("cpu").type == "cpu"


def test_what_is_not_there_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(2, monkeypatch)
    with pytest.raises(UserError, match=r"cuda:2, but there is cuda:0 to cuda:1 here; name one"):
        visible("cuda:2")
    with pytest.raises(UserError, match="there is cuda:0 to cuda:1 here"):
        choose("cuda:7")
    gpus(0, monkeypatch)
    assert visible("auto") == [torch.device("cpu")]
    for word in ("cuda", "cuda:0"):
        with pytest.raises(UserError, match="torch sees no GPU here; set device: auto or cpu"):
            visible(word)


@pytest.mark.parametrize("word", ["gpu", "cuda:", "cuda:x", "cpu:0", ""])
def test_a_device_that_is_none_is_an_error_of_params_yaml(word: str) -> None:
    with pytest.raises(UserError, match="device"):
        small_params({"device": word})


def test_shares_say_how_many_stacks_one_gpu_takes() -> None:
    shares = {"default": 1.0, "dust": 0.33, "ut": 0.5}
    assert [share(shares, model) for model in ("roberta", "dust", "ut")] == [1, 3, 2]
    with pytest.raises(UserError, match="default"):
        small_params({"gpu_share": {"default": None}})
    with pytest.raises(UserError, match=r"gpu_share: unknown .*'utt'"):
        small_params({"gpu_share": {"default": 1.0, "utt": 0.33}})


def where(folder: Path, stack: Sequence[Cell], tell: Callable[[int], None]) -> None:
    """Leave the process and the device that took a stack."""
    time.sleep(0.3)
    place = (folder / f"device-{os.getpid()}").read_text()
    (folder / f"stack-{stack[0].layers}").write_text(f"{os.getpid()} {place}")
    tell(1)


def test_stacks_spread_over_all_gpus_with_as_many_processes_as_their_share_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(2, monkeypatch)
    monkeypatch.setattr(executor, "_way", Way(gpu_share={"default": 1.0, "dust": 0.5}))
    monkeypatch.setattr(executor, "get_context", partial(_forked, executor.get_context))
    monkeypatch.setattr(
        torch.cuda, "set_device", lambda place: (tmp_path / f"device-{os.getpid()}").write_text(str(place.index))
    )
    told: list[int] = []
    run_all(jobs(STACKS, partial(where, tmp_path), len(STACKS)), torch.device("cuda"), told.append)
    took = [path.read_text().split() for path in tmp_path.glob("stack-*")]
    assert sum(told) == len(took) == len(STACKS)
    assert sorted(path.read_text() for path in tmp_path.glob("device-*")) == ["0", "0", "1", "1"]
    assert {place for _, place in took} == {"0", "1"}


def test_a_gpu_that_others_have_filled_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: torch.device) -> None:
        raise RuntimeError("CUDA error: out of memory")

    gpus(2, monkeypatch)
    monkeypatch.setattr(executor, "_way", Way())
    monkeypatch.setattr(executor, "get_context", partial(_forked, executor.get_context))
    monkeypatch.setattr(torch.cuda, "set_device", full)
    with pytest.raises(RuntimeError, match="out of memory") as found:
        run_all(jobs(STACKS, whose, 6), torch.device("cuda"), lambda count: None)
    assert sentence(found.value).startswith("the GPU's memory is full: ")


def whose(stack: Sequence[Cell], tell: Callable[[int], None]) -> tuple[str, int, int]:
    """A job's model and depth, and the process that did it."""
    time.sleep(0.3)
    return stack[0].model, stack[0].layers, os.getpid()


def test_models_that_share_a_gpu_do_so_beside_one_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(1, monkeypatch)
    monkeypatch.setattr(executor, "_way", Way(gpu_share={"default": 1.0, "dust": 0.5}))
    monkeypatch.setattr(executor, "get_context", partial(_forked, executor.get_context))
    monkeypatch.setattr(torch.cuda, "set_device", lambda place: None)
    stacks = [[replace(stack[0], model="vit")] for stack in STACKS[:2]] + STACKS
    found = run_all(jobs(stacks, whose, 6), torch.device("cuda"), lambda count: None)
    assert [own[:2] for own in found] == [(stack[0].model, stack[0].layers) for stack in stacks]
    assert {own[2] for own in found[:2]} == {os.getpid()} and len({own[2] for own in found[2:]}) == 2


def _forked(real: Callable, kind: str) -> object:
    assert kind == "spawn", "a forked process cannot use CUDA"
    return real("fork")  # which keeps the patches of this test


@pytest.mark.parametrize(("count", "word", "used"), [(1, "cuda", 0), (2, "cuda:1", 1)])
def test_one_gpu_at_a_share_of_one_trains_here_on_it_one_stack_after_another(
    count: int, word: str, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(count, monkeypatch)
    monkeypatch.setattr(executor, "_way", Way())
    seen: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", lambda place: seen.append(place.index))
    here = jobs(STACKS, lambda stack, tell: seen.append(os.getpid()), 6)
    run_all(here, torch.device(word), lambda done: None)
    assert seen == [used] + [os.getpid()] * len(STACKS), "graphs would be made on the first one"
