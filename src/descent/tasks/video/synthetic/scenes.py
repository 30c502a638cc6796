"""A made-up scene: a camera view, and who walks there."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from descent.tasks.video.synthetic.walkers import Point, Walker


@dataclass(frozen=True)
class Scene:
    """Rows are fractions of the frame's height, 0 at the top."""

    width: int
    height: int
    backdrop: Callable[[np.random.Generator, int, int], np.ndarray]
    mean: float  # brightness of the backdrop, 0 to 255
    contrast: float  # its standard deviation
    views: int  # cameras
    people: tuple[int, int]  # fewest and most in a clip
    horizon: float  # the row at which a person would have no height
    feet: tuple[float, float]  # the rows people walk on
    tallest: float  # height of a person at the bottom row
    speed: float  # body heights per frame
    across: float  # share of the speed along the rows; the rest is towards or away from the camera
    cyclists: float  # share of the people
    lean: Point  # from the feet to the shadow of the head, body heights


def paint(scene: Scene, rng: np.random.Generator) -> UInt8[np.ndarray, "height width 3"]:
    """An empty view at the scene's own brightness and contrast; blue, green, red."""
    picture = scene.backdrop(rng, scene.height, scene.width)
    picture = (picture - picture.mean()) / picture.std() * scene.contrast + scene.mean
    return np.clip(picture, 3, 252).astype(np.uint8)


def populate(scene: Scene, rng: np.random.Generator) -> list[Walker]:
    """The people of one clip, the farthest first."""
    fewest, most = scene.people
    rows = np.sort(rng.uniform(*scene.feet, rng.integers(fewest, most + 1)))
    return [_person(scene, row, rng) for row in rows]


def _person(scene: Scene, row: float, rng: np.random.Generator) -> Walker:
    bicycle = bool(rng.random() < scene.cyclists)
    perspective = (row - scene.horizon) / (1 - scene.horizon)
    height = scene.height * scene.tallest * perspective * rng.uniform(0.9, 1.1)
    speed = scene.speed * height * rng.uniform(0.8, 1.2) * (3 if bicycle else 1)
    along = 0.0 if bicycle else (1 - scene.across) * rng.uniform(-1, 1)
    top = rng.choice([35, 55, 80, 170, 225]) * rng.uniform(0.75, 1.25, 3)
    legs = rng.uniform(25, 80) * rng.uniform(0.8, 1.2, 3)
    skin = rng.uniform(0.5, 1) * np.array([130, 160, 205])
    return Walker(
        feet=(float(rng.uniform(0, scene.width)), float(row * scene.height)),
        velocity=(float(speed * scene.across * rng.choice([-1, 1])), float(speed * along)),
        height=float(height),
        phase=float(rng.uniform(0, 2 * np.pi)),
        top=_colour(top),
        legs=_colour(legs),
        skin=_colour(skin),
        bicycle=bicycle,
    )


def _colour(channels: np.ndarray) -> tuple[int, int, int]:
    blue, green, red = np.clip(channels, 0, 255).astype(int).tolist()
    return blue, green, red
