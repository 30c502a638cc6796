"""Prepared video frames, whole or as sequences of patches, gathered straight from the memory maps."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from descent.errors import UserError


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
    def clip(self) -> Int[np.ndarray, " sequences"]:
        """The number of each sequence's clip."""
        every = np.repeat(self.clips, self.places)
        return every if self.subset is None else every[self.subset]

    def __len__(self) -> int:
        return len(self.starts) * self.places if self.subset is None else len(self.subset)

    def gather(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch tokens pixels"]:
        """The sequences with these numbers; pixels are row-major within the patch.

        Without a limit, number i is start i // places and place i % places, places row-major in the frame.
        """
        number = index if self.subset is None else self.subset[index]
        start, place = np.divmod(number, self.places)
        across = self.frames.shape[2] // self.patch
        row, column = np.divmod(place, across)
        # A patch's row is one element: numpy then copies patch-wide strips and not single bytes.
        strips = self.frames.view(f"V{self.patch}")  # (frames, size, across)
        time = self.starts[start][:, None, None] + np.arange(self.tokens)[None, :, None]
        line = (row * self.patch)[:, None, None] + np.arange(self.patch)
        patches = strips[time, line, column[:, None, None]]  # (batch, tokens, patch)
        return torch.from_numpy(patches.view(np.uint8))


@dataclass(frozen=True)
class Frames:
    """Whole frames, one by one: no time."""

    frames: UInt8[np.ndarray, "frames size size"]
    clips: Int[np.ndarray, " frames"]  # number of the clip that each frame is in
    subset: Int[np.ndarray, " subset"] | None  # numbers of the frames in use; None: all

    @property
    def clip(self) -> Int[np.ndarray, " used"]:
        """The number of each frame's clip."""
        return self.clips if self.subset is None else self.clips[self.subset]

    def __len__(self) -> int:
        return len(self.frames) if self.subset is None else len(self.subset)

    def gather(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch size size"]:
        """The frames with these numbers."""
        return torch.from_numpy(self.frames[index if self.subset is None else self.subset[index]])


@dataclass(frozen=True)
class Prepared:
    """A prepared data set: its statistics in [0, 1] units, its clip index, and where its arrays are."""

    folder: Path
    name: str
    sigma: float
    mean: float
    rms: float
    size: int
    patch: int
    digest: str
    synthetic: bool
    clips: dict[str, list[tuple[str, int, int]]]  # split: (name, first frame, frames)

    def sequences(self, split: str, tokens: int, limit: int | None = None, seed: int = 0) -> Sequences:
        """All sequences of `tokens` patches in a split, not overlapping in time, none across two clips.

        Args:
            limit: take only this many, drawn without replacement by `seed`; fewer if there are not so many.

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
        every = Sequences(self._arrays(split), np.concatenate(starts), numbers, tokens, self.patch, None)
        return replace(every, subset=_subset(len(every), limit, seed))

    def whole(self, split: str, limit: int | None = None, seed: int = 0) -> Frames:
        """All frames of a split, or as many of them as `limit` says, as in `sequences`."""
        frames = self._arrays(split)
        numbers = np.repeat(np.arange(len(self.clips[split])), [count for _, _, count in self.clips[split]])
        return Frames(frames, numbers, _subset(len(frames), limit, seed))

    def _arrays(self, split: str) -> UInt8[np.ndarray, "frames size size"]:
        return np.load(self.folder / f"{split}.npy", mmap_mode="r")


def _subset(count: int, limit: int | None, seed: int) -> Int[np.ndarray, " subset"] | None:
    if limit is None or limit >= count:
        return None
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False, shuffle=False))


def load(folder: Path) -> Prepared:
    """Open a prepared data set.

    Raises:
        UserError: the folder is missing or incomplete.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text())
        for split, frames in meta["frames"].items():
            if len(np.load(folder / f"{split}.npy", mmap_mode="r")) != frames:
                raise ValueError(f"{split}.npy does not hold {frames} frames")
        return Prepared(
            folder=folder,
            name=meta["dataset"],
            clips={split: [tuple(clip) for clip in clips] for split, clips in meta["clips"].items()},
            **{key: meta[key] for key in ("sigma", "mean", "rms", "size", "patch", "digest", "synthetic")},
        )
    except (OSError, ValueError, KeyError):
        raise UserError(
            f"{folder} is missing or incomplete: run `dvc repro --force preprocess_video@{folder.name}`"
        ) from None
