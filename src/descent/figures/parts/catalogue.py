"""The catalogue: figNN_*.py and tableN_*.py of the folders beside this one; without a number, beyond the paper.

A folder is a part, which one process draws. All are found by name, and each is described by its sidecar.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from pydantic import BaseModel

from descent.analysis.provenance import of_code
from descent.config import Params
from descent.errors import UserError
from descent.figures.parts.style import VIDEO, synthetic
from descent.io.folders import write_text

SOURCES = Path(__file__).parents[1]
SHOWN = Path("data/shown")
CONTROLS = "${controls}"
ENTRIES = ("fig[0-9_]*.py", "table[0-9_]*.py")


def names(part: str = "*") -> list[str]:
    """The figures and tables of a part, or of all.

    Raises:
        UserError: no such part; the message lists those there are.
    """
    found = sorted(path.stem for kind in ENTRIES for path in SOURCES.glob(f"{part}/{kind}"))
    if not found:
        known = sorted({path.parent.name for kind in ENTRIES for path in SOURCES.glob(f"*/{kind}")})
        raise UserError(f"the catalogue has no part {part!r}; known: {', '.join(known)}")
    return found


def chosen(part: str, asked: Sequence[str]) -> list[str]:
    """These of a part, or where none is asked for all of it.

    Raises:
        UserError: no such part, or no such figure or table in it; the message lists those there are.
    """
    known = names(part)
    if gone := [name for name in asked if name not in known]:
        raise UserError(f"part {part} has no figure or table {gone[0]!r}; known: {', '.join(known)}")
    return list(asked) or known


def module(name: str) -> ModuleType:
    """The module of one figure or table.

    Raises:
        UserError: no such name; the message lists those there are.
    """
    if name not in names():
        raise UserError(f"there is no figure or table {name!r}; known: {', '.join(names())}")
    (path,) = SOURCES.glob(f"*/{name}.py")
    return import_module(f"descent.figures.{path.parent.name}.{name}")


def name(entry: ModuleType) -> str:
    """The one name of a figure or table: of its module, its files, and its place on the page."""
    return entry.__name__.rsplit(".", 1)[-1]


def part(entry: ModuleType) -> str:
    """The folder that it is drawn with."""
    return entry.__name__.rsplit(".", 2)[-2]


def kind(entry: ModuleType) -> str:
    """figure or table."""
    return "figure" if name(entry).startswith("fig") else "table"


def tasks(entry: ModuleType) -> tuple[str, ...]:
    """Those that it shows: its TASKS, or video."""
    return getattr(entry, "TASKS", VIDEO)


def left_out(entry: ModuleType, params: Params, results: pd.DataFrame | None = None) -> str:
    """Why params.yaml, or the data, leave an entry nothing to show; empty where it has something.

    An entry shows something where one of its TASKS has data sets and models in use, and its STUDY is in use if it
    has one. What else it needs it says itself: of params.yaml in `left_out(params)`, and of data that may lack it
    in `lacking(results, params)`, which is asked for results alone.
    """
    if not set(tasks(entry)) & set(params.tasks):
        return f"params.yaml has no data set or no model of {', '.join(tasks(entry))} in use"
    why = _study_left_out(getattr(entry, "STUDY", None), tasks(entry), params)
    if not why and hasattr(entry, "left_out"):
        why = entry.left_out(params)
    if not why and hasattr(entry, "lacking") and results is not None:
        why = entry.lacking(results, params)
    return why


def sidecar(entry: ModuleType, params: Params, why: str = "") -> dict[str, Any]:
    """What the report page shows beside a figure or table: words, parameters with their values, profile; `why` it
    is left out."""
    folder = part(entry)
    return {
        "name": name(entry),
        "kind": kind(entry),
        "part": folder,
        "title": entry.TITLE,
        "caption": " ".join([*entry.CAPTION.split(), *getattr(entry, "remarks_on", _none)(params)]),
        "parameters": parameters(entry, params),
        "profile": params.profile,
        "left_out": why,
        "synthetic": not why and synthetic(params, tasks(entry)),
        "made_by": {"stage": f"figures@{folder}", "module": f"src/descent/figures/{folder}/{name(entry)}.py"},
        "made_with": of_code(),
    }


def unpublished(entry: ModuleType, params: Params) -> str:
    """Why a figure is not to be published: it is left out, or shows single inputs (SINGLE_INPUTS) that are real;
    empty where it may be."""
    sources = [params.source(task, name) for task in tasks(entry) for name in params.section(task).datasets]
    single = getattr(entry, "SINGLE_INPUTS", False) and not all(source.generate for source in sources)
    return left_out(entry, params) or ("it shows real data" if single else "")


def write_sidecar(sidecar: dict[str, Any], files: Sequence[Path]) -> None:
    """Write what an entry says of itself, with the digests of its files, so that the page follows these."""
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    write_text(
        SHOWN / sidecar["part"] / f"{sidecar['name']}.json",
        json.dumps(sidecar | {"files": digests}, indent=1) + "\n",
    )


def parameters(entry: ModuleType, params: Params) -> dict[str, Any]:
    """The values of an entry's PARAMETERS by their names in params.yaml; `${ours}` is comparison.ours, CONTROLS
    every study of controls in use of the entry's tasks.

    Those that are not there are left out: a profile need not have every model, nor every arm values.
    """
    words = {"${profile}": params.profile, "${ours}": params.comparison.ours}
    studies = [name for task in tasks(entry) for name in params.controls(task)]
    found = {}
    for key in entry.PARAMETERS:
        for word, meant in words.items():
            key = key.replace(word, meant)
        for own in [key.replace(CONTROLS, name) for name in studies] if CONTROLS in key else [key]:
            with suppress(KeyError):
                found[own] = value(params, own)
    return found


def value(params: Params, dotted: str) -> Any:
    """A parameter by its dotted name in params.yaml, as plain data. Raises KeyError where there is none."""
    found: Any = params
    for word in dotted.split("."):
        found = dict(found)[word]
    return found.model_dump() if isinstance(found, BaseModel) else found


def _study_left_out(name: str | None, tasks: tuple[str, ...], params: Params) -> str:
    if name is None:
        return ""
    if name not in params.studies:
        return f"the study {name} is not in use"
    study = params.studied(name)
    if study.task not in tasks:
        return f"the study {name} is one of {study.task}, and what stands here one of {', '.join(tasks)}"
    return "" if params.runs(study) else f"{study.dataset} or {study.model}, of the study {name}, is not in use"


def _none(params: Params) -> list[str]:
    return []
