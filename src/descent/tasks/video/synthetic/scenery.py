"""Static camera views without people: a colonnade, a walkway between lawns, a campus road."""

import cv2
import numpy as np
from jaxtyping import Float32

Colour = tuple[int, int, int]  # blue, green, red
Span = tuple[float | int, float | int]  # fractions of the frame's width or height
Picture = Float32[np.ndarray, "height width 3"]


def colonnade(rng: np.random.Generator, height: int, width: int) -> Picture:
    """A dark hall behind bright columns, and a sunlit plaza before it."""
    picture = _canvas(height, width, (70, 78, 82))
    _rectangle(picture, (150, 160, 165), (0, 1), (0, 0.12))
    for left in np.arange(-0.04, 1, 0.17) + rng.uniform(-0.02, 0.02):
        _rectangle(picture, (26, 26, 28), (left + 0.04, left + 0.17), (0.15, 0.47))
        _rectangle(picture, (60, 58, 52), (left + 0.07, left + 0.14), (0.2, 0.36))
        _rectangle(picture, (172, 180, 186), (left, left + 0.045), (0.1, 0.5))
        _rectangle(picture, (120, 126, 130), (left + 0.033, left + 0.045), (0.1, 0.5))
    _rectangle(picture, (196, 202, 206), (0, 1), (0.48, 1))
    _rectangle(picture, (118, 122, 128), (0, 1), (0.48, 0.54))
    _paving(picture, 0.3, 0.5, (158, 163, 168))
    _polygon(picture, (88, 92, 98), (0, 0.72), (0.24, 0.78), (0.1, 1), (0, 1))  # shade of a tree out of view
    return picture + 7 * texture(rng, height, width) + 3 * rng.standard_normal((height, width, 1), np.float32)


def walkway(rng: np.random.Generator, height: int, width: int) -> Picture:
    """A pale walkway seen from above, between mown lawns and bushes."""
    picture = _canvas(height, width, (88, 88, 88)) + 10 * texture(rng, height, width, coarsest=8)
    picture += 6 * rng.standard_normal((height, width, 1), np.float32)  # grass
    path = _canvas(height, width, (0, 0, 0))
    _polygon(path, (255, 255, 255), (0.1, 0), (0.72, 0), (1, 0.62), (1, 1), (0.12, 1), (0.02, 0.5))
    pavement = _canvas(height, width, (158, 158, 158))
    _paving(pavement, -1.2, 0.3, (140, 140, 140))
    _polygon(pavement, (78, 78, 78), (0, 0), (0.8, 0), (0.55, 0.2), (0.3, 0.12), (0.2, 0.3), (0, 0.24))  # shade
    _polygon(pavement, (84, 84, 84), (0.6, 1), (0.72, 0.78), (0.86, 0.84), (1, 0.66), (1, 1))
    share = cv2.GaussianBlur(path, (0, 0), 1).astype(np.float32) / 255
    picture += share * (pavement + 6 * texture(rng, height, width) - picture)
    _foliage(picture, rng, ((0.85, 1), (0, 0.4)), 26, (52, 52, 52))
    _foliage(picture, rng, ((0, 0.06), (0.55, 1)), 14, (60, 60, 60))
    return picture


def campus(rng: np.random.Generator, height: int, width: int) -> Picture:
    """Sky, a building and trees along a road with a kerb; every camera sees another place."""
    skyline = rng.uniform(0.3, 0.38)
    kerb = rng.uniform(0.5, 0.56)
    sky = np.linspace(1, 0.86, height, dtype=np.float32)[:, None, None] * np.array([215, 200, 188], np.float32)
    picture = _canvas(height, width, (0, 0, 0)) + sky
    solid = np.ascontiguousarray(picture.clip(0, 255).astype(np.uint8))
    left = rng.uniform(-0.1, 0.3)
    right = rng.uniform(0.5, 0.9)
    _rectangle(solid, (128, 142, 156), (left, right), (0.08, kerb))
    for x in np.arange(left + 0.03, right - 0.04, 0.065):
        for y in np.arange(0.12, skyline, 0.085):
            _rectangle(solid, (98, 92, 84), (x, x + 0.035), (y, y + 0.05))
    _rectangle(solid, (104, 130, 112), (0, 1), (skyline + 0.1, kerb))
    _rectangle(solid, (138, 140, 142), (0, 1), (kerb, 1))
    _rectangle(solid, (166, 168, 170), (0, 1), (kerb, kerb + 0.07))
    _paving(solid, kerb - 0.35, rng.uniform(0.2, 0.8), (128, 130, 132))
    for start in np.arange(rng.uniform(-0.2, 0), 1, 0.3):
        _polygon(
            solid, (200, 202, 204), (start, 0.82), (start + 0.15, 0.82), (start + 0.15, 0.845), (start, 0.845)
        )
    picture = solid + 5 * texture(rng, height, width)
    for x in rng.uniform(0, 1, 4):
        trunk = picture[round(0.3 * height) : round(kerb * height), round(x * width) : round(x * width) + 4]
        trunk[:] = (52, 62, 70)
        _foliage(picture, rng, ((x - 0.09, x + 0.1), (0.1, 0.4)), 24, (58, 84, 66))
    return picture


def texture(
    rng: np.random.Generator, height: int, width: int, coarsest: int = 4
) -> Float32[np.ndarray, "height width 1"]:
    """Cloudy noise of unit deviation: octaves, the finer the weaker."""
    total = np.zeros((height, width), np.float32)
    cells = coarsest
    while cells < height:
        grid = rng.standard_normal((cells, cells * width // height), np.float32)
        total += cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC) / cells**0.6
        cells *= 2
    return ((total - total.mean()) / total.std())[..., None]


def _foliage(
    picture: Picture, rng: np.random.Generator, place: tuple[Span, Span], leaves: int, colour: Colour
) -> None:
    """A mottled mass of round leaves, drawn in place."""
    height, width = picture.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    (left, right), (top, bottom) = place
    across = (right - left) / 2
    down = (bottom - top) / 2
    for angle, reach in zip(rng.uniform(0, 2 * np.pi, leaves), np.sqrt(rng.uniform(0, 1, leaves)), strict=True):
        x = (left + across * (1 + 0.8 * reach * np.cos(angle))) * width
        y = (top + down * (1 + 0.8 * reach * np.sin(angle))) * height
        cv2.circle(
            mask, (round(x), round(y)), round(0.35 * min(across * width, down * height)), 255, -1, cv2.LINE_AA
        )
    share = mask.astype(np.float32)[..., None] / 255
    mottled = np.float32(colour) * (1 + 0.28 * texture(rng, height, width, coarsest=16))
    picture += share * (mottled - picture)


def _paving(picture: np.ndarray, horizon: float, vanish: float, colour: Colour) -> None:
    """Joints of paving stones in perspective, on whatever lies below the horizon and is about as bright."""
    height, width = picture.shape[:2]
    joints = np.zeros((height, width), np.uint8)
    for x in np.linspace(-3, 4, 36):
        near = np.array([x, 1.0])
        far = np.array([vanish, horizon])
        start = far + 0.2 * (near - far)
        ends = [tuple(np.round(end * (width, height)).astype(int).tolist()) for end in (start, near)]
        cv2.line(joints, *ends, 255, 1, cv2.LINE_AA)
    for depth in np.linspace(1, 6, 21):
        row = round((horizon + (1 - horizon) / depth) * height)
        cv2.line(joints, (0, row), (width, row), 255, 1, cv2.LINE_AA)
    ground = np.abs(picture.astype(int).mean(2) - np.mean(colour)) < 50
    picture[(joints > 127) & ground] = colour


def _polygon(picture: np.ndarray, colour: Colour, *corners: Span) -> None:
    height, width = picture.shape[:2]
    points = np.array([(round(x * width * 16), round(y * height * 16)) for x, y in corners], np.int32)
    cv2.fillPoly(picture, [points], colour, cv2.LINE_AA, 4)


def _rectangle(picture: np.ndarray, colour: Colour, x: Span, y: Span) -> None:
    _polygon(picture, colour, (x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1]))


def _canvas(height: int, width: int, colour: Colour) -> np.ndarray:
    return np.full((height, width, 3), colour, np.uint8)  # cv2 draws smooth edges on 8 bits only
