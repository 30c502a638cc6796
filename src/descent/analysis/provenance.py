"""What made the results: the commit, the versions of libraries, and of the cells devices, dates and seconds."""

import json
import platform
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from descent import paths
from descent.components import TASKS
from descent.config import Params

LIBRARIES = ("torch", "dvc")
CODE = ("src", "stages", "dvc.yaml")  # what makes results; a run itself changes dvc.lock, and `-S` params.yaml


@cache
def of_code() -> dict[str, str]:
    """The commit, marked where the code is no longer that of it, and the versions of Python and LIBRARIES.

    All that a sidecar says: on the same commit the same bytes, so that equal results stop DVC's cascade. Dates,
    devices and seconds differ between two runs of equal results: they stand on the page alone, the DAG's last.
    """
    commit = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", *CODE)
    told = f"{commit} with changes" if commit and changed else commit or "unknown (no git checkout)"
    return {"commit": told, "python": platform.python_version()} | {name: _version(name) for name in LIBRARIES}


def of_cells(params: Params) -> dict[str, Any]:
    """Of all cells trained for what is in use, each weights counted once, by where they were trained.

    `device` and `torch`: all that there were, joined; `finished`: the day of the last (UTC); `seconds`: of
    training by task, those of studies together. A cell's seconds are its share of its stack's, in one process.
    """
    records = {record["fingerprint"]: (part, record["made_by"]) for part, record in _records(params)}
    made = [made_by for _, made_by in records.values()]
    seconds = dict.fromkeys((*TASKS, "study"), 0.0)
    for part, made_by in records.values():
        seconds[part] += made_by["seconds"] / made_by["cells_in_stack"]
    days = [datetime.fromtimestamp(one["finished"], UTC).date().isoformat() for one in made if "finished" in one]
    return {
        "cells": len(made),
        **{word: ", ".join(sorted({one[word] for one in made})) for word in ("device", "torch")},
        "finished": max(days, default=""),
        "seconds": {part: round(total, 1) for part, total in seconds.items() if total},
    }


def _records(params: Params) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of every cell its task, or `study`, and what training noted; tasks come last, and keep what they share."""
    for part, folder in _folders(params):
        for path in sorted(folder.rglob("cell.json")):
            yield part, json.loads(path.read_text())


def _folders(params: Params) -> Iterator[tuple[str, Path]]:
    """Where cells of what is in use are; beside them may be those of what no longer is."""
    for name in params.studies:
        yield "study", paths.study_runs_folder(name)
    for place in params.places:
        yield place[0], paths.runs_folder(*place)


def _git(*words: str) -> str:
    """What git says; nothing where there is no git, or no checkout."""
    try:
        return subprocess.run(("git", *words), capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "unknown"
