"""People who walk or cycle across a scene: where they are at a time, and how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

import cv2
import numpy as np
from jaxtyping import Int32, UInt8

SHIFT = 4  # binary places of drawn coordinates: figures glide, they do not jump from pixel to pixel
Colour = tuple[int, int, int]
Point = tuple[float, float]


@dataclass(frozen=True)
class Walker:
    """One person; lengths are in body heights, so that one gait serves near and far."""

    feet: Point  # ground position in the first frame, pixels
    velocity: Point  # pixels per frame
    height: float  # pixels
    phase: float  # of the gait
    top: Colour
    legs: Colour
    skin: Colour
    bicycle: bool

    def position(self, time: int, width: int) -> Point:
        """Ground position; who leaves at one side comes in again at the other."""
        margin = self.height
        x = (self.feet[0] + self.velocity[0] * time + margin) % (width + 2 * margin) - margin
        return x, self.feet[1] + self.velocity[1] * time

    def gait(self, time: int) -> float:
        """Angle of the stride: a step takes about 0.8 body heights, and a turn of the pedals 2."""
        distance = hypot(*self.velocity) * time / self.height
        return self.phase + 2 * pi * distance / (2.0 if self.bicycle else 0.8)


@dataclass(frozen=True)
class _Pen:
    """Draws in a walker's own coordinates: body heights forward of the feet, and up."""

    frame: UInt8[np.ndarray, "height width 3"]
    feet: Point
    height: float
    facing: int

    def limb(self, colour: Colour, thickness: float, *joints: Point) -> None:
        width = max(1, round(thickness * self.height))
        cv2.polylines(self.frame, [self._fixed(joints)], False, colour, width, cv2.LINE_AA, SHIFT)

    def disc(self, colour: Colour, radius: float, centre: Point, thickness: int = cv2.FILLED) -> None:
        size = round(radius * self.height * (1 << SHIFT))
        cv2.circle(self.frame, self._fixed([centre])[0].tolist(), size, colour, thickness, cv2.LINE_AA, SHIFT)

    def _fixed(self, points: Sequence[Point]) -> Int32[np.ndarray, "points 2"]:
        pixels = np.array(self.feet) + np.array(points) * (self.facing * self.height, -self.height)
        return np.round(pixels * (1 << SHIFT)).astype(np.int32)


def draw_shadow(
    light: UInt8[np.ndarray, "height width"], walker: Walker, time: int, lean: Point, shade: int
) -> None:
    """Put a walker's shadow into the light on a scene; `lean` leads from the feet to the head's shadow."""
    x, y = walker.position(time, light.shape[1])
    ends = np.array([(x, y), (x + lean[0] * walker.height, y + lean[1] * walker.height)])
    points = np.round(ends * (1 << SHIFT)).astype(np.int32)
    width = max(1, round(0.2 * walker.height))
    cv2.polylines(light, [points], False, shade, width, cv2.LINE_AA, SHIFT)


def draw(frame: UInt8[np.ndarray, "height width 3"], walker: Walker, time: int) -> None:
    """Paint a walker into a frame."""
    facing = 1 if walker.velocity[0] >= 0 else -1
    pen = _Pen(frame, walker.position(time, frame.shape[1]), walker.height, facing)
    (_cycle if walker.bicycle else _walk)(walker, walker.gait(time), pen)


def _walk(walker: Walker, angle: float, pen: _Pen) -> None:
    swing = sin(angle)
    bob = 0.02 * abs(cos(angle))
    hip = (0.0, 0.5 + bob)
    neck = (0.02, 0.82 + bob)
    dark = _shade(walker.legs, 0.75)
    for turn, colour in ((angle + pi, dark), (angle, walker.legs)):
        side, lift = sin(turn), 0.06 * max(0.0, cos(turn))  # a foot is lifted while it swings forward
        pen.limb(colour, 0.1, hip, (0.1 * side + 0.03, 0.26 + lift), (0.2 * side, 0.02 + lift))
    pen.limb(_shade(walker.top, 0.75), 0.07, neck, (0.1 * swing, 0.62), (0.16 * swing + 0.04, 0.5))
    pen.limb(walker.top, 0.19, hip, (0.01, 0.74 + bob))
    pen.limb(_shade(walker.top, 0.9), 0.07, neck, (-0.1 * swing, 0.62), (-0.16 * swing + 0.04, 0.5))
    pen.disc(walker.skin, 0.075, (0.03, 0.93 + bob))


def _cycle(walker: Walker, angle: float, pen: _Pen) -> None:
    grey = (60, 60, 60)
    wheel = max(1, round(0.03 * walker.height))
    for forward in (-0.3, 0.3):
        pen.disc(grey, 0.19, (forward, 0.2), wheel)
    pen.limb(grey, 0.03, (-0.3, 0.2), (-0.1, 0.48), (0.22, 0.5), (0.0, 0.2), (-0.3, 0.2))
    pen.limb(grey, 0.03, (0.3, 0.2), (0.22, 0.58))
    for turn, colour in ((angle + pi, _shade(walker.legs, 0.75)), (angle, walker.legs)):
        foot = (0.09 * cos(turn), 0.2 + 0.09 * sin(turn))
        pen.limb(colour, 0.09, (-0.1, 0.55), (0.12, 0.45 + 0.05 * sin(turn)), foot)
    pen.limb(walker.top, 0.17, (-0.1, 0.6), (0.06, 0.86))
    pen.limb(_shade(walker.top, 0.85), 0.06, (0.06, 0.86), (0.14, 0.68), (0.24, 0.62))
    pen.disc(walker.skin, 0.075, (0.12, 1.0))


def _shade(colour: Colour, factor: float) -> Colour:
    return tuple(round(channel * factor) for channel in colour)
