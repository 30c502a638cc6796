"""make bench: preparing clips against bare OpenCV, and sweeps over levels of shifts against bare forward passes.

`python -m tests.bench.video 330 832` makes the archive as large as ShanghaiTech's training part.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import torch

from descent import config
from descent.analysis.select import TRAINED
from descent.config import Params
from descent.io.processes import cores
from descent.tasks.common.shifted import apply_of
from descent.tasks.video.clips import find_clips
from descent.tasks.video.data import Sequences
from descent.tasks.video.prepare import prepare
from descent.tasks.video.raw import fetch
from descent.tasks.video.schema import Generate, Source
from descent.tasks.video.shifted import tested
from descent.tasks.video.sweep import AtLevels, sweep
from tests.bench.steps import SIZES, Size, dust
from tests.bench.table import EXACT, NONE, record
from tests.bench.timing import device, one_thread, ratio

REPEATS, DATASET, LEVELS = 3, "avenue", 12


def bare(job: tuple[str, int]) -> int:
    """Decode and shrink one clip, and keep nothing."""
    path, size = job
    capture, count = cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1]), 0
    while (read := capture.read())[0]:
        cv2.resize(cv2.cvtColor(read[1], cv2.COLOR_BGR2GRAY), (size, size), interpolation=cv2.INTER_AREA)
        count += 1
    return count


def decoding(values: Params, clips: int, frames: int) -> None:
    """Frames a second of preparing a generated archive in the official layout, and of bare OpenCV on all cores."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = Source(generate=Generate(seed=1, train_clips=clips, test_clips=1, frames=frames))
        fetch(DATASET, source, "", folder / "raw")
        jobs = [(str(clip.files[0]), values.video.frame.size) for clip in find_clips(folder / "raw")]
        pairs = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
                count = sum(pool.map(bare, jobs))
            between = time.perf_counter()
            prepare(DATASET, folder / "raw", folder / "out", values.video.frame, source, "demo")
            pairs.append((between - began, time.perf_counter() - between))
    ones, twos = np.array(pairs).T
    share = float(np.median(ones / twos))
    print(f"Preparing {count} frames: {count / np.median(twos):.0f} a second, {share:.2f} of bare OpenCV")
    told = f"{clips + 1} clips of {frames} frames"
    record("preparing video / bare OpenCV", told, share, "at least 0.8", device(), NONE)


def scenes(size: Size) -> Sequences:
    """Two batches of sequences of random pixels, of one clip."""
    frames = np.random.default_rng(0).integers(0, 256, (4 * size.tokens, 160, 160), np.uint8)
    starts, chosen = np.arange(4) * size.tokens, np.arange(2 * size.batch)
    return Sequences(frames, starts, np.zeros(4, int), size.tokens, 16, chosen)


def sweeping(values: Params, size: Size, cells: int) -> None:
    """Forward passes that a level takes a stack: of training's noise at many levels, of all shifts at theirs."""
    budget = values.video.evaluation.model_copy(update={"noise_draws": 1, "batch": size.batch})
    net, inputs = dust(size, cells, shared=True).eval().to(device()), scenes(size)
    batch = torch.rand(cells, size.batch, size.tokens, 256, device=device())
    setting = f"DUST, {size}, stacks of {cells}" if cells > 1 else f"DUST, {size}"

    @torch.no_grad()
    def passes(levels: int) -> None:
        for _ in range(levels * len(inputs) // size.batch):
            [net.readout(state) for state in net.states(batch)]

    def share(tests: Sequence[AtLevels], patience: float = 1.0) -> float:
        ask = partial(sweep, net, inputs, tests, 0.25, cells, budget, device())
        return ratio(ask, partial(passes, sum(len(test.levels) for test in tests)), patience)[2]

    levels = np.linspace(0, 0.6, LEVELS).tolist()
    found = share([AtLevels(apply_of(values, TRAINED), levels, levels)])
    print(f"{LEVELS} levels, {setting}: {found:.2f} passes a level (1.1)")
    record("forward passes a gamma", f"{setting}, {LEVELS} levels", found, "at most 1.1", device(), EXACT)
    tests = tested(values, inputs, "patches", 0.25)
    found, count = share(tests), sum(len(test.levels) for test in tests)
    told = ", ".join(f"{test.apply.name} {share([test], 0.25):.2f}" for test in tests)  # printed alone
    print(f"{count} levels of {len(tests)} shifts, {setting}: {found:.2f} passes each (1.2): {told}")
    of = f"{setting}, {len(tests)} shifts"
    record("forward passes a level of a shift", of, found, "at most 1.2", device(), EXACT)


def main(clips: str = "8", frames: str = "400") -> None:
    """All of it, on an archive of so many training clips of so many frames."""
    values = config.load().model_copy(update={"profile": "small"})  # that of the demo leaves shifts out
    decoding(values, int(clips), int(frames))
    with one_thread():
        for size in SIZES:
            sweeping(values, size, 1)
        sweeping(values, SIZES[0], len(values.budget.video.seeds))  # as a stage stacks the seeds of small cells


if __name__ == "__main__":
    main(*sys.argv[1:])
