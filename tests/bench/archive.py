"""python -m tests.bench.archive: preparing a data set of ShanghaiTech's size and layout, in time and in memory.

330 training videos of 832 frames of 856x480 and 107 test clips of 401 pictures, made on the fly: a few clips are
drawn, the others are links to them. Ten to twenty minutes on two cores; `... archive 0.1` takes a tenth of them.
"""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import psutil

from descent import config
from descent.config import Params
from descent.io.processes import cores
from descent.tasks.video.clips import find_clips
from descent.tasks.video.datasets import shanghaitech
from descent.tasks.video.prepare import prepare
from descent.tasks.video.raw import fetch
from descent.tasks.video.schema import Generate, Source
from descent.tasks.video.synthetic.footage import Frames, render
from tests.bench.table import NONE, record
from tests.bench.timing import device
from tests.bench.video import bare

DRAWN = 3  # clips of either split that are drawn
FRAMES = {"train": 832, "test": 401}
SHAPE = 856, 480
SOURCE = Source(path=".")


def archive(folder: Path, share: float) -> int:
    """The official tree with this share of its clips; how many frames it has."""
    total = 0
    for split, (clips, _) in shanghaitech.SIZE.items():
        count = max(2, round(clips * share))
        wanted = Generate(seed=1, train_clips=1, test_clips=1, frames=FRAMES[split])
        for number in range(min(DRAWN, count)):
            frames = render(shanghaitech.SCENE, wanted, split, number)
            shanghaitech.write(folder, split, number + 1, large(frames))
        parent = folder / ("training/videos" if split == "train" else "testing/frames")
        drawn = sorted(parent.iterdir())
        for number in range(len(drawn), count):
            linked(drawn[number % len(drawn)], parent / f"{number:04d}{drawn[0].suffix}")
        total += count * FRAMES[split]
    return total


def large(frames: Frames) -> Frames:
    """At the size of the official videos."""
    return (cv2.resize(frame, SHAPE, interpolation=cv2.INTER_CUBIC) for frame in frames)


def linked(clip: Path, name: Path) -> None:
    """The same video, or the same folder of pictures, under another name."""
    if clip.is_file():
        os.link(clip, name)
        return
    name.mkdir()
    for picture in clip.iterdir():
        os.link(picture, name / picture.name)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and the most memory that this process and its children hold at once beyond what they began with, in
    bytes: what they share is counted in each."""
    began, start, ended, most = held(), time.perf_counter(), threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(0.2):
            most[0] = max(most[0], held())

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    work()
    seconds = time.perf_counter() - start
    ended.set()
    watching.join()
    return seconds, max(most[0] - began, 0)


def held() -> int:
    """What this process and its children hold."""
    return sum(resident(process) for process in [psutil.Process(), *psutil.Process().children(recursive=True)])


def resident(process: psutil.Process) -> int:
    """0 of one that has just ended."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def decoded(raw: Path, size: int) -> None:
    """All frames decoded and shrunk by bare OpenCV on all cores, and nothing kept."""
    with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
        for _ in pool.map(bare_clip, [([*map(str, clip.files)], size) for clip in find_clips(raw)]):
            pass


def bare_clip(job: tuple[list[str], int]) -> None:
    """A video, or pictures."""
    files, size = job
    if len(files) == 1:
        bare((files[0], size))
        return
    for picture in files:
        gray = cv2.imread(picture, cv2.IMREAD_GRAYSCALE)
        cv2.resize(gray, (size, size), interpolation=cv2.INTER_AREA)


def measured(values: Params, share: float) -> Iterator[float]:
    """Frames, the share of bare OpenCV's pace, and the memory in bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield archive(folder / "local", share)
        fetch("shanghaitech", SOURCE, str(folder / "local"), folder / "raw")
        bare_seconds, _ = timed(partial(decoded, folder / "raw", values.video.frame.size))
        work = partial(
            prepare, "shanghaitech", folder / "raw", folder / "out", values.video.frame, SOURCE, "paper"
        )
        seconds, memory = timed(work)
        yield bare_seconds / seconds
        yield memory
        array = np.load(folder / "out/training.npy", mmap_mode="r")
        print(f"{array.shape[0]} training frames in {array.nbytes / 2**30:.1f} GiB, {seconds:.0f} s")


def main(share: str = "1") -> None:
    """A tenth of this share of the clips, then this share."""
    values, whole = config.load(), float(share)
    memories = []
    for part in (whole / 10, whole):
        frames, pace, memory = measured(values, part)
        memories.append(memory)
        of = f"ShanghaiTech's layout, {frames:.0f} frames of {SHAPE[0]}x{SHAPE[1]}"
        print(f"{of}: {pace:.2f} of bare OpenCV, {memory / 2**20:.0f} MiB")
        record("preparing video / bare OpenCV", of, pace, "at least 0.8", device(), NONE)
        record("memory of preparing video, MiB", of, memory / 2**20, "bounded", device(), NONE)
    grown = memories[1] / memories[0]
    record("memory of preparing video / of a tenth of it", of, grown, "at most 1.1", device(), NONE)


if __name__ == "__main__":
    main(*sys.argv[1:])
