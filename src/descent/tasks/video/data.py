"""Prepared video frames, whole or as sequences of patches, gathered straight from the memory maps."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from descent.errors import UserError
from descent.io.failures import UNOPENED

FILES = {"train": "training.npy", "validation": "training.npy", "test": "test.npy"}  # where a split's frames are
FEW, BLOCK = 10, 60  # with fewer clips an item is a block of so many frames, else a clip
HELD = 0.25  # share of the clips that validate where a seed draws them
WHOLE = 3  # with fewer clips a seed draws blocks of about BLOCK frames
CLIPS = 2**32 - 6  # the first number of that draw's key, as in training.noise


@dataclass(frozen=True)
class Sequences:
    """Sequences of patches: each is the consecutive patches at one place of one clip."""

    frames: UInt8[np.ndarray, "frames size size"]
    starts: Int[np.ndarray, " starts"]  # first frame of each sequence
    clips: Int[np.ndarray, " starts"]  # number of the clip that it is in
    tokens: int
    patch: int
    subset: Int[np.ndarray, " sequences"] | None  # numbers of the sequences in use; None: all

    @property
    def places(self) -> int:
        """Patches in a frame."""
        return (self.frames.shape[1] // self.patch) ** 2

    @property
    def item(self) -> Int[np.ndarray, " sequences"]:
        """What a resample of the test set draws: the number of each sequence's clip, or block of a clip."""
        every = np.repeat(_items(self.clips, self.starts), self.places)
        return every if self.subset is None else every[self.subset]

    def __len__(self) -> int:
        return len(self.starts) * self.places if self.subset is None else len(self.subset)

    def corners(
        self, index: Int[np.ndarray, " batch"]
    ) -> tuple[Int[np.ndarray, " batch"], Int[np.ndarray, " batch"], Int[np.ndarray, " batch"]]:
        """Where the sequences with these numbers begin: the first frame, and the patch's row and column in it.

        Without a limit, number i is start i // places and place i % places, places row-major in the frame.
        """
        number = index if self.subset is None else self.subset[index]
        start, place = np.divmod(number, self.places)
        return self.starts[start], *np.divmod(place, self.frames.shape[2] // self.patch)

    def gather(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch tokens pixels"]:
        """The sequences with these numbers; pixels are row-major within the patch."""
        first, row, column = self.corners(index)
        # A patch's row is one element: numpy then copies patch-wide strips and not single bytes.
        strips = self.frames.view(f"V{self.patch}")  # (frames, size, across)
        time = first[:, None, None] + np.arange(self.tokens)[None, :, None]
        line = (row * self.patch)[:, None, None] + np.arange(self.patch)
        patches = strips[time, line, column[:, None, None]]  # (batch, tokens, patch)
        return torch.from_numpy(patches.view(np.uint8))


@dataclass(frozen=True)
class Frames:
    """Whole frames, one by one: no time."""

    frames: UInt8[np.ndarray, "frames size size"]
    clips: Int[np.ndarray, " split"]  # number of the clip that each frame of the split is in
    where: Int[np.ndarray, " split"]  # where it stands among all
    subset: Int[np.ndarray, " used"] | None  # numbers of the frames in use; None: all

    @property
    def places(self) -> Int[np.ndarray, " used"]:
        """Where each frame in use stands among all."""
        return self.where if self.subset is None else self.where[self.subset]

    @property
    def item(self) -> Int[np.ndarray, " used"]:
        """What a resample of the test set draws: the number of each frame's clip, or block of a clip."""
        every = _items(self.clips, self.where)
        return every if self.subset is None else every[self.subset]

    def __len__(self) -> int:
        return len(self.places)

    def gather(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch size size"]:
        """The frames with these numbers."""
        return torch.from_numpy(self.frames[self.places[index]])


@dataclass(frozen=True)
class Prepared:
    """A prepared data set: its statistics in [0, 1] units, its clip index, and where its arrays are."""

    folder: Path
    name: str
    sigma: float
    size: int
    patch: int
    digest: str
    synthetic: bool
    clips: dict[str, list[tuple[str, int, int]]]  # split: (name, first frame in its array, frames)

    def drawn(self, seed: int) -> "Prepared":
        """The data set as a seed draws it: a quarter of its clips that do not test validate, at least one; of the
        others as many as there are are drawn with replacement to train. Of fewer than WHOLE clips it draws their
        blocks: two clips would make but two draws, and all seeds copies of these.

        Validation clips are cut to the length of the shortest clip, so that all seeds validate on as much.
        """
        pool = self.clips["train"] + self.clips["validation"]
        if len(pool) < WHOLE:
            pool = [block for clip in pool for block in _blocks(*clip)]
        held = max(1, round(len(pool) * HELD))
        numbers = np.random.default_rng([CLIPS, seed])
        order = numbers.permutation(len(pool))
        shortest = min(frames for *_, frames in pool)
        validation = [(*pool[clip][:2], shortest) for clip in sorted(order[:held])]
        train = [pool[clip] for clip in sorted(numbers.choice(order[held:], len(pool) - held))]
        return replace(self, clips={"train": train, "validation": validation, "test": self.clips["test"]})

    def sequences(self, split: str, tokens: int, limit: int | None = None) -> Sequences:
        """All sequences of `tokens` patches in a split, not overlapping in time, none across two clips.

        Args:
            limit: take only this many, drawn without replacement, always the same; fewer if there are not so many.

        Raises:
            UserError: a clip has fewer frames than `tokens`.
        """
        starts = []
        for name, first, frames in self.clips[split]:
            if frames < tokens:
                raise UserError(
                    f"{self.name}: clip {name} ({split}) has {frames} frames, a sequence needs tokens={tokens}: "
                    "set profiles.<profile>.video.tokens lower, or frames_per_clip higher"
                )
            starts.append(first + np.arange(frames // tokens) * tokens)
        numbers = np.repeat(np.arange(len(starts)), [len(own) for own in starts])
        every = Sequences(self._array(split), np.concatenate(starts), numbers, tokens, self.patch, None)
        return replace(every, subset=_subset(len(every), limit))

    def whole(self, split: str, limit: int | None = None) -> Frames:
        """All frames of a split, or as many of them as `limit` says, as in `sequences`."""
        clips = self.clips[split]
        where = np.concatenate([first + np.arange(count) for _, first, count in clips])
        numbers = np.repeat(np.arange(len(clips)), [count for *_, count in clips])
        return Frames(self._array(split), numbers, where, _subset(len(where), limit))

    def _array(self, split: str) -> UInt8[np.ndarray, "frames size size"]:
        return np.load(self.folder / FILES[split], mmap_mode="r")


def _items(clip: Int[np.ndarray, " of"], frame: Int[np.ndarray, " of"]) -> Int[np.ndarray, " of"]:
    """Clips; of few the blocks of each, which share less than neighbouring frames do."""
    names, number = np.unique(clip, return_inverse=True)
    if len(names) >= FEW:
        return number
    first = np.array([frame[number == name].min() for name in range(len(names))])
    return np.unique(np.stack([number, (frame - first[number]) // BLOCK]), axis=1, return_inverse=True)[1]


def _blocks(name: str, first: int, frames: int) -> list[tuple[str, int, int]]:
    """A clip in parts of about BLOCK frames, the shortest at most one frame shorter than the longest."""
    parts = np.array_split(np.arange(first, first + frames), max(1, round(frames / BLOCK)))
    return [(f"{name}, block {number}", int(part[0]), len(part)) for number, part in enumerate(parts)]


def _subset(count: int, limit: int | None) -> Int[np.ndarray, " subset"] | None:
    if limit is None or limit >= count:
        return None
    return np.sort(np.random.default_rng(0).choice(count, limit, replace=False, shuffle=False))


def load(folder: Path) -> Prepared:
    """Open a prepared data set.

    Raises:
        UserError: the folder is missing or incomplete.
        OSError: a file of it cannot be read.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text())
        for name in set(FILES.values()):
            frames = sum(meta["frames"][split] for split, array in FILES.items() if array == name)
            found = np.load(folder / name, mmap_mode="r")
            shape = (frames, meta["size"], meta["size"])
            if (found.dtype, found.shape) != (np.uint8, shape):
                raise ValueError(f"{name} does not hold {frames} frames")
        return Prepared(
            folder=folder,
            name=meta["dataset"],
            clips={split: [tuple(clip) for clip in clips] for split, clips in meta["clips"].items()},
            **{key: meta[key] for key in ("sigma", "size", "patch", "digest", "synthetic")},
        )
    except (FileNotFoundError, *UNOPENED):
        raise UserError(
            f"{folder} is missing or incomplete: run `dvc repro --force preprocess_video@{folder.name}`"
        ) from None
