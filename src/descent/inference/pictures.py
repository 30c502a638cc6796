"""Sequences of gray pictures as files: side by side, as videos or as folders of frames."""

import errno
from pathlib import Path

import cv2
import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from descent.errors import UserError
from descent.io.folders import atomic_folder

CAPTION, GAP = 18, 4  # pixels above and between the pictures of a side-by-side
CODEC = "MJPG"  # OpenCV writes it everywhere, and any player reads it


def beside(columns: dict[str, Float[Tensor, "frames size size"]]) -> UInt8[np.ndarray, "frames rows columns"]:
    """Pictures next to each other, each column under its name."""
    shown = []
    for name, pictures in columns.items():
        frames = gray(pictures)
        head = np.zeros((CAPTION, frames.shape[-1]), np.uint8)
        cv2.putText(head, name, (4, CAPTION - 5), cv2.FONT_HERSHEY_SIMPLEX, 0.4, 255, 1, cv2.LINE_AA)
        column = np.concatenate([np.broadcast_to(head, (len(frames), *head.shape)), frames], axis=1)
        shown.append(np.pad(column, ((0, 0), (0, 0), (0, GAP if len(shown) + 1 < len(columns) else 0))))
    return np.concatenate(shown, axis=2)


def gray(pictures: Float[Tensor, "*shape"]) -> UInt8[np.ndarray, "*shape"]:
    """Pixels in [0, 1] as whole gray levels; noise beyond black and white is cut off."""
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8).numpy()


def write(
    out: Path, sequences: dict[str, UInt8[np.ndarray, "frames rows columns"]], rate: float | None
) -> list[Path]:
    """Write each sequence of pictures below `out`, all or none; returns their paths.

    Each is <name>.avi at `rate` frames a second, or, without a rate, <name>/000000.png and so on; beside it is its
    middle picture, <name>.png.

    Raises:
        OSError: the disk is full.
    """
    with atomic_folder(out) as folder:
        for name, frames in sequences.items():
            _write_picture(folder / f"{name}.png", frames[len(frames) // 2])
            if rate is None:
                (folder / name).mkdir()
                for number, frame in enumerate(frames):
                    _write_picture(folder / name / f"{number:06}.png", frame)
            else:
                _write_video(folder / f"{name}.avi", frames, rate)
    return [out / (name if rate is None else f"{name}.avi") for name in sequences]


def _write_picture(path: Path, picture: UInt8[np.ndarray, "rows columns"]) -> None:
    path.write_bytes(cv2.imencode(".png", picture)[1])  # OpenCV's own writing does not tell of a full disk


def _write_video(path: Path, frames: UInt8[np.ndarray, "frames rows columns"], rate: float) -> None:
    rows, columns = frames.shape[1:]
    video = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*CODEC), rate, (columns, rows), isColor=False)
    if not video.isOpened():
        raise UserError(
            f"{path.name}: OpenCV writes no video of {columns} x {rows} pixels at {rate:g} frames a second"
        )
    for frame in frames:
        video.write(frame)
    video.release()
    written = cv2.VideoCapture(str(path))
    count = 0
    while written.grab():
        count += 1
    written.release()
    if count < len(frames):  # neither does its writing of videos
        raise OSError(errno.ENOSPC, f"{count} of {len(frames)} frames were written", str(path))
