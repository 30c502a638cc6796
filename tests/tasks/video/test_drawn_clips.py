"""The clips that a seed draws: which validate, and with what replacement the others train."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from descent.cells import Cell
from descent.models.dust import Budget
from descent.tasks.video.batches import SequenceTask
from descent.tasks.video.data import Prepared
from descent.tasks.video.schema import Grids
from tests.fakes.core import CLIPS, TOKENS, small_params, write_prepared

CPU = torch.device("cpu")
SEEDS = range(40)


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return write_prepared(tmp_path / "ucsd")


def task(prepared: Prepared, *seeds: int, clips: str = "drawn", arm: str = "unconstrained") -> SequenceTask:
    values = small_params({"profiles.demo.video.clips": clips}).model_budget("dust")
    cells = [Cell("video", "ucsd", "dust", arm, 2, 0.5, seed) for seed in seeds]
    return SequenceTask(prepared, Budget.model_validate(values), prepared.sigma, "sum", CPU, cells)


def test_no_clip_validates_that_trains_and_every_clip_does_both_with_some_seed(prepared: Prepared) -> None:
    names = {f"train{number}" for number in range(len(CLIPS["train"]))} | {"validation0"}
    held, repeated = set(), 0
    for seed in SEEDS:
        own = prepared.drawn(seed).clips
        train, validation = ([name for name, *_ in own[split]] for split in ("train", "validation"))
        assert len(validation) == 1 and len(train) == 2 and not {*train} & {*validation}
        assert {*train, *validation} <= names and own["test"] == prepared.clips["test"]
        held.update(validation)
        repeated += len(set(train)) < len(train)
    assert held == names and 5 < repeated < 35, "with replacement: half of all seeds"


def test_drawn_clips_hold_their_own_frames(prepared: Prepared) -> None:
    array = np.load(prepared.folder / "training.npy")
    place = {name: rest for split in ("train", "validation") for name, *rest in prepared.clips[split]}
    for seed in SEEDS[:8]:
        own = prepared.drawn(seed)
        for split in ("train", "validation"):
            found, at = own.whole(split), 0
            assert isinstance(found.frames, np.memmap), "no seed has frames of its own in memory"
            for name, _, count in own.clips[split]:
                first, whole = place[name]
                assert count <= whole
                expected = array[first : first + count]
                assert np.array_equal(found.gather(np.arange(at, at + count)), expected)
                at += count
            assert len(found) == at
        shortest = min(CLIPS["train"] + CLIPS["validation"])
        assert [count for *_, count in own.clips["validation"]] == [shortest]


def test_of_two_clips_blocks_are_drawn_so_that_seeds_differ(prepared: Prepared) -> None:
    two = replace(prepared, clips=prepared.clips | {"train": [("a", 0, 145)], "validation": [("b", 145, 244)]})
    draws = [two.drawn(seed).clips for seed in SEEDS]
    assert len({str(clips) for clips in draws}) > 30, "whole clips would make two draws"
    seen: set[int] = set()
    for clips in draws:
        train, validation = (_frames(clips[split]) for split in ("train", "validation"))
        assert not train & validation and len(clips["train"]) == 4
        assert [count for *_, count in clips["validation"]] == [61, 61], "145 frames are 2 blocks, 244 are 4"
        seen |= train
    assert seen == {*range(145 + 244)}


def _frames(clips: list[tuple[str, int, int]]) -> set[int]:
    return {frame for _, first, count in clips for frame in range(first, first + count)}


def test_a_stack_of_drawn_seeds_sees_what_each_seed_sees_alone(prepared: Prepared) -> None:
    together = task(prepared, 3, 4)
    alone = [task(prepared, seed) for seed in (3, 4)]
    assert together.steps == alone[0].steps == alone[1].steps
    for epoch, step in ((0, 0), (2, 1)):
        noisy, clean, *_ = together.batch(epoch, step)
        for cell, one in enumerate(alone):
            own_noisy, own_clean, *_ = one.batch(epoch, step)
            assert torch.equal(noisy[cell], own_noisy[0]) and torch.equal(clean[cell], own_clean[0])
    for (batch, size), *others in zip(together.validation(), *(one.validation() for one in alone), strict=True):
        for cell, (own, own_size) in enumerate(others):
            assert torch.equal(batch.noisy[cell], own.noisy[0]) and size == own_size
    assert not torch.equal(batch.clean[0], batch.clean[1]), "another seed, another clip"


def test_official_clips_are_those_of_the_data_set_whatever_the_seed(prepared: Prepared) -> None:
    one, other = (task(prepared, seed, clips="official") for seed in (3, 4))
    for (batch, _), (twin, _) in zip(one.validation(), other.validation(), strict=True):
        assert torch.equal(batch.noisy, twin.noisy)
    assert len(one.train[0]) == len(prepared.sequences("train", TOKENS))


def test_an_arm_of_a_range_trains_on_levels_up_to_eps_and_validates_at_eps(prepared: Prepared) -> None:
    ranged, fixed = (task(prepared, 3, clips="official", arm=arm) for arm in ("erm_range", "unconstrained"))
    shares = []
    for step in range(3):
        for epoch in range(10):
            noisy, clean, *_ = ranged.batch(epoch, step)
            full, same, *_ = fixed.batch(epoch, step)
            assert torch.equal(clean, same)
            share = ((noisy - clean) / (full - same)).nanmedian(-1).values.nanmedian(-1).values  # one an input
            torch.testing.assert_close(noisy, clean + share[..., None, None] * (full - same), atol=1e-5, rtol=0)
            shares.append(share.flatten())
    drawn = torch.cat(shares)
    assert drawn.min() >= 0 and drawn.max() <= 1 and len(drawn.round(decimals=4).unique()) > 150
    assert drawn.mean().item() == pytest.approx(0.5, abs=4 / np.sqrt(12 * len(drawn)))
    for (batch, _), (twin, _) in zip(ranged.validation(), fixed.validation(), strict=True):
        assert torch.equal(batch.noisy, twin.noisy)


def test_clips_are_official_or_drawn_and_nothing_else() -> None:
    with pytest.raises(ValueError, match="clips"):
        Grids.model_validate(small_params().budget.video.model_dump() | {"clips": "some"})
