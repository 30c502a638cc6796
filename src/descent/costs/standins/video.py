"""Prepared video of the right size without a download: black frames, which take no room on the disk, and gray ones
to test on, since shifts in proportion to the light have no strength without any."""

import json
import math
from pathlib import Path

import numpy as np

from descent.components import declared
from descent.config import Params
from descent.errors import UserError
from descent.tasks.video.clips import Clip
from descent.tasks.video.data import Prepared
from descent.tasks.video.prepare import ARRAYS, SPLITS, split_clips
from descent.tasks.video.resident import SHARE
from descent.tasks.video.schema import Source

GRAY = 128
WHOLE = 10**9, 1  # more frames than any clip has, as one sequence


def write(params: Params, dataset: str, model: str, folder: Path, shrink: int) -> None:
    """What preprocess_video would leave in `folder`, as large as the profile's source; pixels are not narrowed.

    Raises:
        UserError: the data set's file says no SIZE.
    """
    frame = params.video.frame
    source = params.source("video", dataset)
    clips = split_clips(_clips(dataset, source, *_enough(params, model)), frame.split, source)
    index = {}
    for name, splits in ARRAYS.items():
        first = 0
        for split in splits:
            index[split] = []
            for clip in clips[split]:
                index[split].append([clip.name, first, len(clip.files)])
                first += len(clip.files)
        # A file with holes: what is not written reads as zeros.
        frames = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.uint8, (first, frame.size, frame.size))
        if name == "test":
            frames[:] = GRAY
    meta = {
        "dataset": dataset,
        "size": frame.size,
        "patch": frame.patch,
        "frames": {split: sum(count for *_, count in index[split]) for split in SPLITS},
        "clips": index,
        "synthetic": True,
        "digest": "",
        "sigma": 0.25,
    }
    (folder / "meta.json").write_text(json.dumps(meta))


def resident(params: Params, dataset: str, data: Prepared | None, free: int | None) -> int:
    """Bytes of the training frames, of the whole source where no data are there; 0 where they take more of what is
    free than may stay on a GPU.

    Raises:
        UserError: the data set's file says no SIZE.
    """
    frame = params.video.frame
    source = params.source("video", dataset)
    splits = ARRAYS["training"]
    if data is None:
        clips = split_clips(_clips(dataset, source, *WHOLE), frame.split, source)
        frames = sum(len(clip.files) for split in splits for clip in clips[split])
    else:
        frames = sum(count for split in splits for *_, count in data.clips[split])
    size = frames * frame.size**2
    return size if free is None or size <= SHARE * free else 0


def _enough(params: Params, model: str) -> tuple[int, int]:
    """Frames of all clips with which a tenth of them too has the inputs that are asked for, and of a sequence."""
    budget = params.model_budget(model)
    frame = params.video.frame
    asked = [budget["epoch_inputs"], budget["test_inputs"]]
    if None in asked:
        return WHOLE
    whole = declared("models", model)["INPUTS"] == "frames"
    patches = 1 if whole else (frame.size // frame.patch) ** 2 / budget["tokens"]
    return math.ceil(max(*asked, 10 * budget["validation_inputs"]) / patches), budget["tokens"]


def _clips(dataset: str, source: Source, enough: int, sequence: int) -> list[Clip]:
    """The source's clips, all of a split equally long, cut behind a whole sequence; a frame is a file that nobody
    opens.

    Raises:
        UserError: the data set's file says no SIZE.
    """
    if made := source.generate:
        counts = {"train": (made.train_clips, made.frames), "test": (made.test_clips, made.frames)}
    else:
        said = declared("tasks.video.datasets", dataset).get("SIZE")
        if said is None:
            raise UserError(f"{dataset}: its file says no SIZE (clips and frames), so nothing can be estimated")
        counts = {split: (clips, frames // clips) for split, (clips, frames) in said.items()}
    limit = source.frames_per_clip or max(frames for _, frames in counts.values())
    return [
        Clip(f"{number:03d}", split, (Path(),) * min(frames, limit, -(-enough // (clips * sequence)) * sequence))
        for split, (clips, frames) in counts.items()
        for number in range(clips)
    ]
