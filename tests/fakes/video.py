"""Small clips in the folder trees and file formats of real data sets, for tests."""

from pathlib import Path

import cv2
import numpy as np

from descent.tasks.video import manifest

# scikit-image's words for Wang et al.'s structural similarity, as its documentation names them.
SSIM = {"data_range": 1, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}


def noise(count: int, seed: int, height: int = 16, width: int = 16) -> np.ndarray:
    """Random gray frames (count, height, width)."""
    return np.random.default_rng(seed).integers(0, 256, (count, height, width), dtype=np.uint8)


def levels(count: int, height: int = 48, width: int = 64) -> np.ndarray:
    """Frames of one gray each, 10 brighter than the one before: a frame tells its own number."""
    return np.broadcast_to((10 * np.arange(count, dtype=np.uint8) + 20)[:, None, None], (count, height, width))


def write_pictures(folder: Path, frames: np.ndarray, suffix: str = ".png", name: str = "{:03d}") -> None:
    """One file per frame, numbered from 1."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(frames, 1):
        assert cv2.imwrite(str(folder / (name.format(number) + suffix)), np.ascontiguousarray(frame))


def write_video(path: Path, frames: np.ndarray) -> None:
    """A video of gray frames; Motion JPEG in .avi, MPEG-4 in .mp4."""
    path.parent.mkdir(parents=True, exist_ok=True)
    codec = {".avi": "MJPG", ".mp4": "mp4v"}[path.suffix]
    height, width = frames.shape[1:]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*codec), 25.0, (width, height), isColor=True)
    for frame in frames:
        writer.write(cv2.cvtColor(np.ascontiguousarray(frame), cv2.COLOR_GRAY2BGR))
    writer.release()


def write_clips(folder: Path, train: list[int], test: list[int]) -> Path:
    """A raw data set of noise in lossless pictures, clips of these many frames; returns its folder."""
    for split, clips in (("train", train), ("test", test)):
        for number, frames in enumerate(clips, 1):
            seed = number + 100 * (split == "test")
            write_pictures(folder / split / f"{split}{number}", noise(frames, seed))
    manifest.write(folder, folder)
    return folder
