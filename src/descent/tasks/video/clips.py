"""Clips of a raw data set: found in the official folder trees, decoded to small gray frames."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import cv2
import numpy as np
from jaxtyping import UInt8

from descent.errors import UserError
from descent.tasks.video import manifest

DEEP = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH  # gray, with as many bits as the file has
CHUNK = 64  # frames in memory at a time
CONTAINERS = {"videos", "frames"}  # ShanghaiTech's folders between the split and its clips
GROUND_TRUTH = re.compile(r"_gt$|_mask$", re.IGNORECASE)  # Test001_gt of UCSD, test_frame_mask of ShanghaiTech
COMPLETE = 0.9  # share of the frames its header promises that a video must give; headers may be off by a few


@dataclass(frozen=True)
class Clip:
    """One video file, or the frames of one folder in natural order."""

    name: str
    split: Literal["train", "test"]
    files: tuple[Path, ...]


class _Place(NamedTuple):
    tree: str  # the folder that holds the split folders
    split: Literal["train", "test"]
    clip: str
    video: bool


def find_clips(folder: Path, part: str | None = None) -> list[Clip]:
    """All clips that the manifest of a raw data set lists, training clips first, in natural order.

    Known trees: UCSD `Train/Train001/*.tif`, Avenue `training_videos/*.avi`, ShanghaiTech `training/videos/*.avi`
    and `testing/frames/<clip>/*.jpg`, and any `train*/` and `test*/` with videos or folders of frames. Ground
    truth is left out; of a clip that is there both as a video and as frames, the video is taken.

    Args:
        folder: holds source.json.
        part: a sub-folder of the tree, at any depth, to look in.

    Raises:
        UserError: no manifest, no such part, no clip, several videos of one clip, or several data sets side by
            side and no `part`.
    """
    root, paths = manifest.read(folder)
    groups: dict[_Place, list[str]] = defaultdict(list)
    for path in paths:
        place = _place(_below(path, part))
        if place is not None:
            groups[place].append(path)
    _check(folder.name, groups, part)
    chosen = {(place.split, place.clip): place for place in sorted(groups, key=lambda place: place.video)}
    in_order = sorted(chosen.values(), key=lambda place: (place.split == "test", _natural(place.clip)))
    return [
        Clip(place.clip, place.split, tuple(root / path for path in sorted(groups[place], key=_natural)))
        for place in in_order
    ]


def clip_at(path: Path) -> Clip:
    """A video, a single picture, or the pictures of one folder in natural order, of no data set; hidden files of a
    folder are left out, as of a data set.

    Raises:
        UserError: nothing there that can be a clip, or a video whose name OpenCV cannot read.
    """
    if path.is_dir():
        seen = [file for file in path.iterdir() if not file.name.startswith(".") and file.is_file()]
        files = [file for file in seen if file.suffix.lower() in manifest.FRAMES]
    else:
        files = [path] if path.is_file() and path.suffix.lower() in manifest.VIDEOS | manifest.FRAMES else []
    if not files:
        endings = " ".join(sorted(manifest.VIDEOS)), " ".join(sorted(manifest.FRAMES))
        raise UserError(f"{path} is no video ({endings[0]}), and no folder of frames ({endings[1]})")
    manifest.check_name(path)
    return Clip(path.resolve().stem, "test", tuple(sorted(files, key=lambda file: _natural(file.name))))


def frame_rate(clip: Clip) -> float | None:
    """Frames a second of a video, 25 where it does not say; None of a folder of frames."""
    if not _is_video(clip):
        return None
    return cv2.VideoCapture(str(clip.files[0]), cv2.CAP_FFMPEG).get(cv2.CAP_PROP_FPS) or 25.0


def _is_video(clip: Clip) -> bool:
    return clip.files[0].suffix.lower() in manifest.VIDEOS


def _check(name: str, groups: Mapping[_Place, list[str]], part: str | None) -> None:
    trees = sorted({place.tree or "." for place in groups})
    if not trees:
        where = "the source" if part is None else f"the part {part} of the source"
        raise UserError(
            f"{name}: no clips found in {where}; it needs folders train* and test* that hold videos "
            "or folders of frames"
        )
    if len(trees) > 1:
        raise UserError(f"{name}: several data sets in one source ({', '.join(trees)}); choose one with `part`")
    for place, paths in groups.items():
        if place.video and len(paths) > 1:
            raise UserError(f"{name}: several videos of clip {place.clip} ({', '.join(paths)}): keep one of them")


def _below(path: str, part: str | None) -> PurePosixPath:
    """What follows a sub-folder in a path; nothing where the path does not lead through it."""
    return PurePosixPath(path if part is None else f"/{path}".partition(f"/{part.strip('/')}/")[2])


def _place(path: PurePosixPath) -> _Place | None:
    """Where a media file belongs; None where it belongs to no clip."""
    folders = path.parts[:-1]
    split = next((i for i, name in enumerate(folders) if re.match("train|test", name, re.IGNORECASE)), None)
    if split is None or any(GROUND_TRUTH.search(name) for name in folders[split:]):
        return None
    video = path.suffix.lower() in manifest.VIDEOS
    below = [name for name in folders[split + 1 :] if name.lower() not in CONTAINERS]
    clip = "/".join([*below, path.stem] if video else below)
    kind = "train" if folders[split].lower().startswith("train") else "test"
    return _Place("/".join(folders[:split]), kind, clip, video) if clip else None


def _natural(name: str) -> list[tuple[int, str]]:
    """A sorting key by which 2 comes before 10."""
    return [(int(word), "") if word.isdecimal() else (-1, word) for word in re.split(r"(\d+)", name)]


def read_frames(
    clip: Clip, size: int, limit: int | None = None
) -> Iterator[UInt8[np.ndarray, "chunk {size} {size}"]]:
    """Decode a clip to gray frames of size x size pixels (area averaging), in chunks of at most 64 frames.

    Args:
        limit: stop after this many frames; None reads all.

    Raises:
        UserError: a file that cannot be decoded or is cut short, or frames of different sizes; names the file.
    """
    _silence_codecs()
    video = _is_video(clip)
    frames = islice(_video(clip.files[0]) if video else map(_picture, clip.files), limit)
    first_shape, done = None, 0
    while chunk := list(islice(frames, CHUNK)):
        small = np.empty((len(chunk), size, size), np.uint8)
        for index, frame in enumerate(chunk):
            first_shape = first_shape or frame.shape
            if frame.shape != first_shape:
                where = clip.files[0] if video else clip.files[done + index]
                (height, width), (rows, columns) = frame.shape, first_shape
                raise UserError(f"{where}: a frame of {width}x{height} in a clip that began with {columns}x{rows}")
            small[index] = cv2.resize(frame, (size, size), interpolation=cv2.INTER_AREA)
        done += len(chunk)
        yield small


def _video(path: Path) -> Iterator[UInt8[np.ndarray, "height width"]]:
    # One thread: clips are decoded side by side, a process each.
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    promised = capture.get(cv2.CAP_PROP_FRAME_COUNT)
    count = 0
    while (decoded := capture.read())[0]:
        count += 1
        yield cv2.cvtColor(decoded[1], cv2.COLOR_BGR2GRAY)
    capture.release()
    if count == 0:
        raise UserError(f"{path}: this video is missing or cannot be decoded; copy it again")
    if count < COMPLETE * promised:
        raise UserError(f"{path}: only {count} of {promised:.0f} frames can be decoded; copy the video again")


def _picture(path: Path) -> UInt8[np.ndarray, "height width"]:
    data = path.read_bytes() if path.is_file() else b""
    frame = None
    with suppress(cv2.error):  # a header of more pixels than it takes
        # Not imread: it fills a JPEG that is cut short with gray and says nothing.
        frame = cv2.imdecode(np.frombuffer(data, np.uint8), DEEP) if data else None
    if frame is None:
        raise UserError(f"{path}: this frame is missing or cannot be decoded; copy it again")
    return frame if frame.dtype == np.uint8 else _shallow(path, frame)


def _shallow(path: Path, frame: np.ndarray) -> UInt8[np.ndarray, "height width"]:
    """The upper 8 of 16 bits, where they are used."""
    if frame.dtype != np.uint16 or frame.max() < 1 << 12:
        raise UserError(
            f"{path}: the frame holds {8 * frame.itemsize} bits a pixel and its largest value is {frame.max()}, "
            "which would be black or nothing in 8 bits: convert the frames to 8 bits"
        )
    return (frame >> 8).astype(np.uint8)


def _silence_codecs() -> None:
    """Keep the decoders' own complaints off the screen: a damaged file ends with one message that names it."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
