"""Made-up surveillance footage, written in the folder tree and the file formats of the real data set."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
from jaxtyping import UInt8

from descent.tasks.video.schema import Generate
from descent.tasks.video.synthetic.scenes import Scene, paint, populate
from descent.tasks.video.synthetic.walkers import draw, draw_shadow

Frames = Iterator[UInt8[np.ndarray, "height width 3"]]
Writer = Callable[[Path, str, int, Frames], None]
SPLITS = ("train", "test")
SHADOW = 150  # brightness in the shade, of 255


def generate(scene: Scene, write: Writer, wanted: Generate, out: Path) -> None:
    """Write the clips of a demo data set into `out`; the same seed writes the same bytes.

    Args:
        write: writes one clip from `out`, its split, its number from 1, and its frames.
    """
    for split, clips in zip(SPLITS, (wanted.train_clips, wanted.test_clips), strict=True):
        for number in range(clips):
            write(out, split, number + 1, render(scene, wanted, split, number))


def render(scene: Scene, wanted: Generate, split: str, number: int) -> Frames:
    """The frames of one clip: a still view, people moving through it, a slight flicker of the light."""
    view = paint(scene, np.random.default_rng([wanted.seed, len(SPLITS), number % scene.views]))
    rng = np.random.default_rng([wanted.seed, SPLITS.index(split), number])
    people = populate(scene, rng)
    flicker = (
        1 + 0.01 * np.sin(2 * np.pi * np.arange(wanted.frames) / 25) + 0.004 * rng.standard_normal(wanted.frames)
    )
    for time in range(wanted.frames):
        light = np.full(view.shape[:2], 255, np.uint8)
        for person in people:
            draw_shadow(light, person, time, scene.lean, SHADOW)
        light = cv2.blur(light, (3, 3))
        frame = cv2.multiply(view, cv2.merge([light] * 3), scale=1 / 255)
        for person in people:
            draw(frame, person, time)
        yield cv2.convertScaleAbs(frame, alpha=flicker[time])


def write_video(path: Path, frames: Frames) -> None:
    """Motion JPEG, 25 frames a second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first = next(frames)
    height, width = first.shape[:2]
    # cv2's own writer and codec: FFmpeg's would put its version into the file.
    video = cv2.VideoWriter(
        str(path), cv2.CAP_OPENCV_MJPEG, cv2.VideoWriter.fourcc(*"MJPG"), 25.0, (width, height)
    )
    for frame in chain([first], frames):
        video.write(frame)
    video.release()


def write_pictures(folder: Path, name: str, first: int, frames: Iterator[np.ndarray]) -> None:
    """A file per frame, numbered from `first`, as the suffix of `name` says."""
    folder.mkdir(parents=True)
    for number, frame in enumerate(frames, first):
        path = folder / name.format(number)
        path.write_bytes(cv2.imencode(path.suffix, frame)[1])  # imwrite says nothing of a full disk
