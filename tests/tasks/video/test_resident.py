"""Frames on a device are gathered as those on the disk, and stay where they are if they are too many."""

from pathlib import Path

import numpy as np
import pytest
import torch

from descent.cells import grid
from descent.tasks.video import batches, resident
from descent.tasks.video.data import Frames, Prepared, Sequences
from descent.tasks.video.feed import feed
from descent.tasks.video.resident import Resident
from tests.fakes.core import DATASET, small_params, write_prepared

CPU, TOKENS = torch.device("cpu"), 3


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_kept", {})


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return write_prepared(tmp_path / "ucsd")


def inputs(prepared: Prepared) -> list[Sequences | Frames]:
    return [
        prepared.sequences("train", TOKENS),
        prepared.sequences("train", TOKENS, limit=11),
        prepared.whole("train"),
        prepared.whole("train", 9),
    ]


@pytest.mark.parametrize("block", [1, 7, 1024])
def test_what_is_gathered_is_the_same(prepared: Prepared, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(resident, "BLOCK", block)
    every = inputs(prepared)
    found = resident.resident(every, CPU, free=10**9)
    assert len({one.frames.data_ptr() for one in found}) == 1, "one copy for all"
    for own, there in zip(every, found, strict=True):
        assert isinstance(there, Resident) and len(there) == len(own)
        index = np.random.default_rng(0).permutation(len(own))
        for some in (index, index[:1]):
            assert torch.equal(resident.gather([there], some[None])[0], own.gather(some))


def test_the_next_stack_on_the_same_frames_finds_them_there(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = resident.resident(inputs(prepared), CPU, free=10**9)[0].frames
    again = resident.resident(inputs(prepared), CPU, free=0)[0]
    assert isinstance(again, Resident) and again.frames is first, "what is there needs no room"
    other = resident.resident(inputs(write_prepared(tmp_path / "avenue", seed=1)), CPU, free=10**9)[0].frames
    assert not torch.equal(other, first) and list(resident._kept.values()) == [other], "the newest alone is kept"


def test_frames_that_could_not_all_be_read_are_not_kept(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "BLOCK", 7)
    every, read, calls = inputs(prepared), torch.from_numpy, []

    def failing(block: np.ndarray) -> torch.Tensor:
        calls.append(len(block))
        if len(calls) == 2:
            raise OSError("a bad sector")
        return read(block)

    monkeypatch.setattr(torch, "from_numpy", failing)
    with pytest.raises(OSError, match="sector"):
        resident.resident(every, CPU, free=10**9)
    assert calls == [7, 7] and not resident._kept


def test_frames_that_take_too_much_stay_on_the_disk(prepared: Prepared) -> None:
    every = inputs(prepared)
    bound = int(every[0].frames.nbytes / resident.SHARE)
    for free in (0, bound - 1):
        assert resident.resident(every, CPU, free) is every
    assert isinstance(resident.resident(every, CPU, bound)[0], Resident)


@pytest.mark.parametrize("drawn", ["official", "drawn"])
def test_a_stack_learns_from_the_same_batches(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, drawn: str
) -> None:
    """As on a GPU: seeds that draw their clips, and seeds that do not, share one copy of the frames."""
    params = small_params({"profiles.demo.video": {"clips": drawn, "seeds": [0, 1]}})
    every = grid(params, "video", DATASET, "dust")
    cells = [cell for cell in every if (cell.arm, cell.layers) == ("constrained", every[0].layers)]
    assert {cell.seed for cell in cells} == {0, 1}
    plain = feed(params, prepared, "dust", CPU).task(cells)
    assert {type(own) for own in plain.train} == {Sequences}
    monkeypatch.setattr(batches, "free_memory", lambda device: 10**9)
    there = feed(params, prepared, "dust", CPU).task(cells)
    assert {type(own) for own in there.train} == {Resident}
    for step in range(plain.steps):
        one, two = plain.batch(1, step), there.batch(1, step)
        assert torch.equal(one.noisy, two.noisy) and torch.equal(one.clean, two.clean) and one.key == two.key
