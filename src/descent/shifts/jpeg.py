"""JPEG: pictures saved with a quality of `level` and opened again, by OpenCV."""

from typing import Annotated

import cv2
import numpy as np
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Grid, Shift
from descent.shifts.parts.host import each_level
from descent.training.noise import Stream

LABEL = "JPEG"
TASKS = ("video",)
ENERGY = False
SEES = "pictures"
BLOCK = 8  # pixels: blocks of so many are coded by themselves, a patch of whole ones as it would be in its frame
TALLEST = 65_000  # rows of one JPEG file


class Settings(Shift):
    """levels: qualities, whole numbers from 1 to 100."""

    levels: Grid[Annotated[float, Field(ge=1, le=100, multiple_of=1)]]


def apply(
    clean: Float[Tensor, "#cells batch *parts rows columns"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts rows columns"]:
    """Nothing is drawn, and `scale` has no say."""

    def coded(pictures: np.ndarray, quality: float) -> np.ndarray:
        flat = pictures.reshape(-1, *pictures.shape[-2:])
        rows, columns = flat.shape[1:]
        whole = np.pad(flat, [(0, 0), (0, -rows % BLOCK), (0, -columns % BLOCK)], mode="edge")
        gray = np.round(255 * whole.reshape(-1, whole.shape[2])).astype(np.uint8)
        tall = whole.shape[1]
        step = TALLEST // tall * tall  # one below the other, many pictures are one file
        found = [_through_file(gray[first : first + step], quality) for first in range(0, len(gray), step)]
        return (np.concatenate(found).reshape(whole.shape)[:, :rows, :columns] / 255).reshape(pictures.shape)

    return each_level(clean, level, coded)


def _through_file(gray: np.ndarray, quality: float) -> np.ndarray:
    _, file = cv2.imencode(".jpg", gray, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])
    return cv2.imdecode(file, cv2.IMREAD_GRAYSCALE)
