"""What evaluation kept of single inputs, for pictures of them: small arrays of video, JSON of texts."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from descent.errors import UserError
from descent.paths import LOOKS

KNOWN = 0x250  # characters below it are in the font of figures


def arrays(dataset: str, model: str, arm: str) -> dict[str, np.ndarray] | None:
    """The arrays of an arm, or of a map that learns nothing; None where its cell diverged.

    Raises:
        UserError: nothing was kept of this model on this data set.
    """
    path = _file(dataset, model, f"{arm}.npz")
    if path is None:
        return None
    with np.load(path) as kept:
        return dict(kept)


def texts(dataset: str, model: str, arm: str) -> Any:
    """The JSON of an arm; None where its cell diverged. Raises UserError as `arrays`."""
    path = _file(dataset, model, f"{arm}.json")
    return json.loads(path.read_text(encoding="utf-8")) if path else None


def printed(text: str) -> str:
    """Words as a figure can show them: on one line, dollar signs no mathematics, other alphabets as dots."""
    words = " ".join(text.split())
    shown = "".join(letter if letter.isprintable() and ord(letter) < KNOWN else "·" for letter in words)
    return shown.replace("$", r"\$")


def _file(dataset: str, model: str, name: str) -> Path | None:
    folder = LOOKS / dataset / model
    if not folder.is_dir():
        raise UserError(f"{folder} is missing: run `dvc repro` (stage collect makes it)")
    return folder / name if (folder / name).is_file() else None
