"""Clips that cannot be decoded, folders that lead nowhere or in a circle, and frames that say nothing."""

import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from descent.tasks.video.prepare import prepare
from descent.tasks.video.raw import fetch
from descent.tasks.video.schema import Frame, Source
from tests.fakes.video import noise, write_pictures, write_video
from tests.faults.case import Case

SET, RAW, OUT = Path("local/set"), Path("raw"), Path("prepared")
FRAME = Frame(size=8, patch=4, split="official")
TRAIN, TEST = SET / "train/one", SET / "test/one"
FIRST = TRAIN / "001.png"


def right() -> None:
    """A small data set of three clips, six frames each."""
    for number, folder in enumerate((TRAIN, SET / "train/two", TEST)):
        write_pictures(folder, noise(6, number))


def stages(source: Source | None = None, frame: Frame = FRAME) -> None:
    """What the stages download and preprocess do with the folder."""
    own = source or Source(path="set")
    fetch("ucsd", own, "local", RAW)
    prepare("ucsd", RAW, OUT, frame, own, "demo", workers=1)


def made(make: Callable[[], object]) -> Callable[[], object]:
    """The stages, with something done to the data set before."""

    def act() -> None:
        right()
        make()
        stages()

    return act


def between(make: Callable[[], object]) -> Callable[[], object]:
    """The stages, with something done between them."""

    def act() -> None:
        right()
        fetch("ucsd", Source(path="set"), "local", RAW)
        make()
        prepare("ucsd", RAW, OUT, FRAME, Source(path="set"), "demo", workers=1)

    return act


def png(width: int, height: int) -> bytes:
    """The header of a picture of this size, and next to nothing of the picture."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (header, b"IDAT" + zlib.compress(b"\0" * 99), b"IEND")
    chunks = (struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def bmp(width: int, height: int) -> bytes:
    """The same of a format whose header says all."""
    body = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, 0, 0, 0, 256, 0) + bytes(1024)
    return b"BM" + struct.pack("<IHHI", 14 + len(body), 0, 0, 14 + len(body)) + body


def cut(path: Path, share: float) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def of_other_size() -> None:
    assert cv2.imwrite(str(FIRST), noise(1, 9, height=20)[0])


def video(path: str, share: float = 1.0, frames: int = 20) -> Callable[[], object]:
    def make() -> None:
        write_video(SET / path, noise(frames, 3, 32, 32))
        cut(SET / path, share)

    return make


def replaced(content: bytes) -> Callable[[], object]:
    return lambda: FIRST.write_bytes(content)


def instead(make: Callable[[Path], object]) -> Callable[[], object]:
    """Something else in place of the first frame."""

    def act() -> None:
        FIRST.unlink()
        make(FIRST)

    return act


def deep(kind: int, scale: int) -> Callable[[], object]:
    """Frames of more than 8 bits, of which the data use so many values."""

    def make() -> None:
        for folder in (TRAIN, SET / "train/two", TEST):
            for path in folder.glob("*.png"):
                path.unlink()
            for number, frame in enumerate(noise(6, 1)):
                assert cv2.imwrite(str(folder / f"{number}.png"), frame.astype(kind) * scale)

    return make


def floating() -> None:
    for folder in (TRAIN, SET / "train/two", TEST):
        for path in folder.glob("*.png"):
            path.unlink()
        assert cv2.imwrite(str(folder / "1.tiff"), noise(1, 1)[0].astype(np.float32))


def constant() -> None:
    for folder in (TRAIN, SET / "train/two"):
        write_pictures(folder, np.full((6, 16, 16), 7, np.uint8))


def same_in_both() -> None:
    for path in TRAIN.glob("*.png"):
        (TEST / path.name).write_bytes(path.read_bytes())


def own_parent() -> None:
    right()
    (SET / "train/again").symlink_to("..", target_is_directory=True)
    stages()
    frames = json.loads((OUT / "meta.json").read_text())["frames"]
    assert sum(frames.values()) == 18, f"{frames} of 18 frames"


def listed(content: str) -> Callable[[], object]:
    return lambda: (RAW / "source.json").write_text(content)


ROOT, DECODED = "cannot be decoded", "frames can be decoded"
REFUSED: list[tuple[str, Callable[[], object], str]] = [
    ("an empty frame", made(replaced(b"")), ROOT),
    ("a frame of garbage", made(replaced(b"garbage" * 50)), ROOT),
    ("a frame that is a text", made(replaced(b"Bild")), ROOT),
    ("half a frame", made(lambda: cut(FIRST, 0.5)), ROOT),
    ("a frame without its last bytes", made(lambda: cut(FIRST, 0.9)), ROOT),
    ("a frame of another size", made(of_other_size), "a frame of 16x16 in a clip that began with 16x20"),
    ("a frame that is gone since it was listed", between(FIRST.unlink), "missing or cannot be decoded"),
    (
        "a frame link that leads nowhere",
        made(instead(lambda path: path.symlink_to("nowhere"))),
        "link that leads nowhere",
    ),
    ("a frame link to itself", made(instead(lambda path: path.symlink_to(path.name))), "leads nowhere"),
    ("an empty video", made(lambda: (SET / "train/v.avi").write_bytes(b"")), ROOT),
    ("a video of garbage", made(lambda: (SET / "train/v.avi").write_bytes(b"RIFF" * 99)), ROOT),
    ("half a video", made(video("train/v.avi", 0.5)), DECODED + "|" + ROOT),
    ("a tenth of a video", made(video("train/v.avi", 0.1)), DECODED + "|" + ROOT),
    ("half an .mp4", made(video("train/v.mp4", 0.5)), ROOT + "|" + DECODED),
    ("12 bits in files of 16", made(deep(np.uint16, 16)), "holds 16 bits a pixel"),
    ("numbers with a point for pixels", made(floating), "32 bits a pixel|cannot be decoded"),
    ("frames of one gray", made(constant), "all training frames are of one gray"),
    ("no test clips", made(lambda: [path.unlink() for path in TEST.iterdir()]), "found no test clips"),
    ("one training clip", made(lambda: [p.unlink() for p in (SET / "train/two").iterdir()]), "needs at least 2"),
    ("an empty folder", lambda: (SET.mkdir(parents=True), stages()), "there are no frames or videos"),
    ("no such folder", stages, "there is no folder or file"),
    (
        "a file of a wrong kind for the folder",
        lambda: (SET.parent.mkdir(), SET.write_text("x"), stages()),
        "known kind",
    ),
    (
        "pictures outside train and test",
        lambda: (write_pictures(SET / "all/one", noise(3, 0)), stages()),
        "no clips",
    ),
    ("a part that is none", lambda: (right(), stages(Source(path="set", part="ped9"))), "part ped9"),
    ("a path of 300 characters", lambda: stages(Source(path="n" * 300)), "there is no folder|too long"),
    ("a path of 5,000 characters", lambda: stages(Source(path="n/" * 2500)), "too long"),
    ("the home of nobody", lambda: stages(Source(path="~nosuchuser/set")), "nosuchuser"),
    ("local data of nobody", lambda: fetch("ucsd", Source(path="set"), "~nosuchuser", RAW), "nosuchuser"),
    ("fewer frames than one", lambda: fetch("ucsd", Source(path="/proc/self/fd"), "", RAW), "no frames"),
    *(
        (f"source.json {name}", between(listed(content)), r"source\.json")
        for name, content in {
            "empty": "",
            "of garbage": "{nonsense",
            "of null": "null",
            "a list": "[]",
            "of nothing": "{}",
            "without files": '{"root": "."}',
            "with files of words": '{"root": ".", "files": ["abc", "b"]}',
            "with files of numbers": '{"root": ".", "files": [1, 2]}',
            "with empty files": '{"root": ".", "files": [[]]}',
            "with a number for its root": '{"root": 3, "files": []}',
            "of 100,000 brackets": "[" * 100_000,
        }.items()
    ),
    ("source.json missing", between(lambda: (RAW / "source.json").unlink()), r"source\.json is missing"),
]
ALONE: list[tuple[str, Callable[[], object], str]] = [
    ("a frame that says 70000x70000", made(replaced(png(70_000, 70_000))), ROOT),
    ("a bitmap that says 70000x70000", made(replaced(bmp(70_000, 70_000))), ROOT),
    ("a frame that says 2**31 x 1", made(replaced(png(2**31 - 1, 1))), ROOT),
    ("a frame of no width", made(replaced(png(0, 16))), ROOT),
    ("a pipe among the frames", made(instead(os.mkfifo)), "is no plain file"),
    ("a device among the frames", made(instead(lambda path: path.symlink_to("/dev/zero"))), "is no plain file"),
    ("/proc/self as a folder", lambda: stages(Source(path="/proc/self")), "no frames or videos"),
    ("/dev as a folder", lambda: stages(Source(path="/dev")), "no frames or videos"),
]
TOLD: list[tuple[str, Callable[[], object], str]] = [
    ("a test clip that trains too", made(same_in_both), "test.*(train|also)|train.*test"),
]
HANDLED: list[tuple[str, Callable[[], object]]] = [
    ("a data set as it should be", made(lambda: None)),
    ("a folder link to its own parent", own_parent),
    ("a folder named as a frame", made(instead(Path.mkdir))),
    ("frames of 16 bits", made(deep(np.uint16, 256))),
    ("hidden files among the frames", made(lambda: (TRAIN / ".hidden.png").write_bytes(b"x"))),
    ("files that are no frames", made(lambda: (TRAIN / "notes.txt").write_text("x"))),
    ("names of other scripts", made(lambda: write_pictures(SET / "train/прогулка ä", noise(4, 5)))),
    ("a whole video beside frames", made(video("train/v.avi"))),
    ("a frame cap beyond all", lambda: (right(), stages(Source(path="set", frames_per_clip=10**6)))),
]
CASES = [
    *(Case("video", name, act, told) for name, act, told in REFUSED),
    *(Case("video", name, act, told, alone=True) for name, act, told in ALONE),
    *(Case("video", name, act, told=told) for name, act, told in TOLD),
    *(Case("video", name, act) for name, act in HANDLED),
]
