"""Clips to memory-mappable arrays of small gray frames, one per split, with exact statistics."""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import cv2
import numpy as np
from jaxtyping import Int64

from descent.config import Params
from descent.errors import UserError
from descent.io import processes
from descent.io.folders import atomic_folder
from descent.io.processes import cores
from descent.io.progress import Bar
from descent.tasks.video.clips import Clip, find_clips, read_frames
from descent.tasks.video.schema import Frame, Source

ARRAYS = {"training": ("train", "validation"), "test": ("test",)}  # and the splits in them
SPLITS = tuple(split for splits in ARRAYS.values() for split in splits)
BLOCK = 1 << 22  # bytes that are copied at a time
Counts = Int64[np.ndarray, "256"]  # how often each pixel value occurs
Decoded = tuple[int, Counts, bytes]  # frames of a clip, its pixels, and a digest of what they show
Item = TypeVar("Item")


@dataclass(frozen=True)
class Decoding:
    """One clip to decode into a part file of raw bytes."""

    clip: Clip
    size: int
    limit: int | None
    part: Path


class Joined(NamedTuple):
    """A split in its array: pixels by value, clips [name, first frame, frames], digests of what these show."""

    histogram: Counts
    index: list[list[Any]]
    shown: list[bytes]


def stage(params: Params, dataset: str) -> None:
    """The raw data set of data/raw to data/prepared, as params.yaml says.

    Raises:
        UserError: no data set of that name; see `prepare`.
    """
    source = params.source("video", dataset)
    raw, out = (Path("data") / step / dataset for step in ("raw", "prepared"))
    prepare(dataset, raw, out, params.video.frame, source, params.profile)


def prepare(
    dataset: str, raw: Path, out: Path, frame: Frame, source: Source, profile: str, workers: int | None = None
) -> None:
    """Write `out`: training.npy, test.npy (frames, size, size) uint8, and meta.json.

    training.npy holds the clips that train and, after them, those that validate: a seed may draw from both.
    meta.json holds the clip index [name, first frame in the array, frames] per split, the standard deviation of
    the training frames in [0, 1] units (sigma), and a digest of frames and clips.

    Args:
        raw: the folder with source.json.
        workers: processes that decode; None takes one per core. The result does not depend on it.

    Raises:
        UserError: too few clips for the split, a clip that cannot be read, or training frames of one gray.
    """
    clips = split_clips(find_clips(raw, source.part), frame.split, source)
    with atomic_folder(out) as folder:
        jobs = {
            split: [
                Decoding(clip, frame.size, source.frames_per_clip, folder / f"{split}.{number}.part")
                for number, clip in enumerate(clips[split])
            ]
            for split in SPLITS
        }
        digest = hashlib.sha256()
        joined = _arrays(folder, dataset, jobs, workers or cores(), digest)
        index = {split: own.index for split, own in joined.items()}
        digest.update(json.dumps(index, sort_keys=True).encode())
        before = sum(count for *_, count in index["train"])
        index["validation"] = [[clip, before + first, count] for clip, first, count in index["validation"]]
        trained = {*joined["train"].shown, *joined["validation"].shown}
        meta = {
            "dataset": dataset,
            "profile": profile,
            "size": frame.size,
            "patch": frame.patch,
            "frames": {split: sum(count for *_, count in index[split]) for split in SPLITS},
            "clips": index,
            "repeated": sum(clip in trained for clip in joined["test"].shown),
            "synthetic": source.generate is not None,
            "digest": digest.hexdigest(),
            "sigma": deviation(joined["train"].histogram),
        }
        if not meta["sigma"]:
            raise UserError(
                f"{dataset}: all training frames are of one gray, which gives noise no scale (sigma is 0)"
            )
        (folder / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")
    if meta["repeated"]:
        print(f"{dataset}: {meta['repeated']} of {len(clips['test'])} test clips are among the training clips too")


def split_clips(clips: Sequence[Clip], rule: str, source: Source) -> dict[str, list[Clip]]:
    """Train, validation and test clips, no clip in two of them.

    Args:
        rule: `official`: a tenth of the official training clips validates, the official test clips test;
            `training_only`: the official training clips alone, 80/10/10.
        source: its train_clips and test_clips bound how many official clips are taken, evenly spread.

    Raises:
        UserError: fewer clips than the rule needs.
    """
    training = spread([clip for clip in clips if clip.split == "train"], source.train_clips)
    testing = spread([clip for clip in clips if clip.split == "test"], source.test_clips)
    needed = 2 if rule == "official" else 3
    if len(training) < needed:
        raise UserError(
            f"found {len(training)} training clips, and the split `{rule}` needs at least {needed}: "
            "add clips to the source, or change video.frame.split or train_clips"
        )
    tenth = max(1, round(0.1 * len(training)))
    if rule == "official":
        if not testing:
            raise UserError("found no test clips: add some to the source, or set video.frame.split=training_only")
        validation = spread(training, tenth)
    else:
        held = spread(training, 2 * tenth)
        validation = held[0::2]
        testing = held[1::2]
    train = [clip for clip in training if clip not in validation and clip not in testing]
    return {"train": train, "validation": validation, "test": testing}


def spread(items: Sequence[Item], count: int | None) -> list[Item]:
    """At most `count` items, evenly spread over all; None takes all."""
    if count is None or count >= len(items):
        return list(items)
    return [items[(2 * i + 1) * len(items) // (2 * count)] for i in range(count)]


def deviation(histogram: Counts) -> float:
    """The standard deviation in [0, 1] units, of pixels counted by their value."""
    # Whole numbers of any length: exact, whatever the number of pixels or their order.
    counts = [int(count) for count in histogram]
    pixels = sum(counts)
    total = sum(value * count for value, count in enumerate(counts))
    squares = sum(value * value * count for value, count in enumerate(counts))
    return math.sqrt(pixels * squares - total * total) / pixels / 255


def _arrays(
    folder: Path, dataset: str, jobs: dict[str, list[Decoding]], workers: int, digest: Any
) -> dict[str, Joined]:
    """Decode every clip and write the arrays; what is to be known of each split."""
    every = [job for split in SPLITS for job in jobs[split]]
    joined: dict[str, Joined] = {}
    bar = Bar(desc=f"decoding {dataset}", total=len(every), unit="clip")
    with closing(_decode_all(every, min(workers, len(every)))) as decoded, bar:
        for name, splits in ARRAYS.items():
            with (folder / f"{name}.npy").open("wb") as file:
                _write_header(file, 0, every[0].size)
                joined |= {split: _join(file, jobs[split], decoded, digest, bar) for split in splits}
                file.seek(0)
                frames = sum(count for split in splits for *_, count in joined[split].index)
                _write_header(file, frames, every[0].size)
    return joined


def _decode_all(jobs: list[Decoding], workers: int) -> Iterator[Decoded]:
    """The jobs' results in the jobs' order."""
    if workers == 1:
        yield from map(_decode, jobs)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (os.getpid(),))
    with processes.working(pool, "a process that decodes clips was killed; free some memory and run again"):
        with processes.unheard():
            decoded = pool.map(partial(processes.carrying, _decode), jobs)
        yield from decoded


def _start_worker(parent: int) -> None:
    cv2.setNumThreads(0)  # a process per core is enough
    processes.begin(parent)


def _decode(job: Decoding) -> Decoded:
    """Write a clip's frames to its part file; returns what is to be known of them."""
    frames = 0
    histogram = np.zeros(256, np.int64)
    shown = hashlib.sha256()
    with job.part.open("wb") as file:
        for chunk in read_frames(job.clip, job.size, job.limit):
            file.write(chunk.data)
            frames += len(chunk)
            for frame in chunk:  # counted as float32, exact up to the pixels of a frame of 4096 x 4096
                histogram += cv2.calcHist([frame], [0], None, [256], [0, 256]).ravel().astype(np.int64)
            shown.update(chunk.data)
    return frames, histogram, shown.digest()


def _join(file: BinaryIO, jobs: list[Decoding], decoded: Iterator[Decoded], digest: Any, bar: Bar) -> Joined:
    """Append a split's part files to an array."""
    histogram = np.zeros(256, np.int64)
    index = []
    names = []
    first = 0
    for job in jobs:
        frames, counts, shown = next(decoded)
        with job.part.open("rb") as source:
            while block := source.read(BLOCK):
                digest.update(block)
                file.write(block)
        job.part.unlink()
        index.append([job.clip.name, first, frames])
        names.append(shown)
        histogram += counts
        first += frames
        bar.update()
    return Joined(histogram, index, names)


def _write_header(file: BinaryIO, frames: int, size: int) -> None:
    # Numpy leaves room for the first axis to grow: a header written again has the same length.
    header = {"descr": "|u1", "fortran_order": False, "shape": (frames, size, size)}
    np.lib.format.write_array_header_1_0(file, header)
