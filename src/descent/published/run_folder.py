"""A finished run on real data as a folder in git, data/evidence/<profile>-<digest>, or a refusal."""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from descent import kept
from descent.analysis import csv_files, grounds
from descent.analysis import results as table
from descent.analysis.asked import check_asked
from descent.cells import grid, study_cells
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import catalogue, drawing
from descent.io.folders import atomic_folder
from descent.io.processes import processor
from descent.paths import PREPARED, RESULTS, prepared_folder, runs_folder, study_runs_folder
from descent.published import files, shape
from descent.runner.stored import RECORD, Stored

ROOT = Path("data/evidence")
PROTOCOL = ROOT / "PROTOCOL.md"
KEPT = {"figure": "png", "table": "md"}
SELECTION = "final"  # the protocol's rule for weights
SEED = re.compile(r"-seed(\d+)")  # in a cell's name


def finished(params: Params) -> pd.DataFrame:
    """The results table of these parameters, whole.

    Raises:
        UserError: a data set in use is generated; weights are chosen by another rule than the protocol's; no
            results, results of other parameters, or cells missing.
    """
    generated = [
        name
        for task in params.tasks
        for name in params.section(task).datasets
        if params.source(task, name).generate
    ]
    if generated:
        raise UserError(
            f"evidence is of real data, and profile {params.profile} generates {', '.join(generated)}: choose "
            "another profile"
        )
    chosen = [task for task in params.tasks if params.section(task).selection != SELECTION]
    if chosen:
        raise UserError(
            f"the protocol reports the weights at the end of training: set {chosen[0]}.selection: {SELECTION} "
            "and run `dvc repro`"
        )
    made_with = kept.OF_RESULTS
    if not made_with.exists() or json.loads(made_with.read_text()) != json.loads(kept.of_results(params)):
        raise UserError(f"{made_with} is not of this params.yaml, so the run is not finished: run `dvc repro`")
    found = table.read(RESULTS, params.profile)
    check_asked(found, params)
    return found


def metas(params: Params) -> dict[str, dict[str, Any]]:
    """What preparation noted of every data set in use, by its folder within data/prepared.

    Raises:
        UserError: one is missing, or synthetic.
    """
    found = {}
    for folder in sorted({prepared_folder(params, *place) for place in params.places}):
        path = folder / "meta.json"
        if not path.exists():
            raise UserError(f"{path} is missing, so the run is not finished: run `dvc repro`")
        meta = json.loads(path.read_text())
        if meta.get("synthetic"):
            raise UserError(f"evidence is of real data, and {folder} holds generated ones: run `dvc repro`")
        found[folder.relative_to(PREPARED).as_posix()] = meta
    return found


def digest_lines(found: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for every prepared data set: its sha256 and its folder."""
    return "".join(f"{meta['digest']}  {name}\n" for name, meta in sorted(found.items()))


def folder_name(params: Params, found: Mapping[str, Mapping[str, Any]], cells: Collection[Path]) -> str:
    """The profile, and eight digits of the digest of all its data and settings: more seeds make no other part.

    Nor do other rates and numbers of epochs, which take the place of those before; but of runs that are judged
    alone, where one may be announced beside another that differs in nothing else. Of these one that shares no seed
    with what is published under its name repeats that on new ones, and one that differs in what trains or tests
    its cells is another: they have names of their own too.

    Args:
        cells: their folders, as of `records`.
    """
    settings = sorted({SEED.sub("", cell.as_posix()) for cell in cells})
    if params.judged == "alone":
        settings += [json.dumps(params.model_budget(model), sort_keys=True) for _, model in params.models_in_use]
    name = _digested(params, found, settings)
    if params.judged == "alone" and (ROOT / name).exists():
        studies, published = study_runs_folder(), files.cells(ROOT / name)
        seeds = {int(SEED.search(cell.name)[1]) for cell in cells if not cell.is_relative_to(studies)}
        if seeds.isdisjoint(published[published["trained"] & published["experiment"].isin(TASKS)]["seed"]):
            name = _digested(params, found, [*settings, f"seeds {sorted(seeds)}"])
        elif (asked := shape.definition(params)) != shape.definition(files.params(ROOT / name)):
            name = _digested(params, found, [*settings, asked])
    return name


def _digested(params: Params, found: Mapping[str, Mapping[str, Any]], settings: Sequence[str]) -> str:
    told = "\n".join([digest_lines(found), *settings])
    return f"{params.profile}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def records(params: Params) -> dict[Path, dict[str, Any]]:
    """What training noted of every cell that params.yaml asks for (its `made_by`, and its fingerprint), by the
    cell's folder.

    Raises:
        UserError: a cell is missing.
    """
    places = [runs_folder(*place) / cell.name for place in params.places for cell in grid(params, *place)]
    places += [
        study_runs_folder(name) / cell.name for name in params.studies for cell in study_cells(params, name)
    ]
    found = {}
    for place in places:
        if not (place / RECORD).exists():
            raise UserError(f"{place} is missing, so the run is not finished: run `dvc repro`")
        record = Stored(place).record
        found[place] = record["made_by"] | {"fingerprint": record["fingerprint"]}
    return found


def committed(path: Path) -> int:
    """When git last took a file, in seconds since 1970.

    Raises:
        UserError: no such file, no git, or a file that is not committed as it stands.
    """
    if not path.exists():
        raise UserError(f"{path} is missing: what judges a run is written before it")
    when = _git("log", "-1", "--format=%ct", "--", str(path))
    changed = _git("status", "--porcelain", "--", str(path))
    if not when or changed:
        raise UserError(f"{path} is not committed as it stands, so nothing says that it is older than the runs")
    return int(when)


def commit_of(path: Path) -> str:
    """The commit of a file as it stands, with its day: what judged a run is found by it later."""
    return _git("log", "-1", "--format=%h of %cs", "--", str(path))


def check_older(path: Path, made: Mapping[Path, Mapping[str, Any]]) -> None:
    """Raises UserError where training of a cell began before the protocol that judges it was committed."""
    since = committed(path)
    for place, made_by in sorted(made.items()):
        if "finished" not in made_by:
            raise UserError(f"{place} does not say when it was trained: train it again (make clean-store)")
        # Of older cells an interruption is not known, and they are taken to have begun at once.
        if made_by.get("began", made_by["finished"] - made_by["seconds"]) < since:
            raise UserError(f"{place} was trained before the last commit of {path}, which cannot judge it")


def pictures(params: Params) -> dict[Path, dict[str, Any]]:
    """The files of all figures and tables in use that show something, and no single inputs, frames or texts, with
    what each says of itself; PNG and Markdown. A module of the catalogue that shows single inputs says so:
    `SINGLE_INPUTS = True`.

    Raises:
        UserError: nothing was drawn, or a file is not what its sidecar tells of, or is of another profile.
    """
    found = {}
    for path in sorted(catalogue.SHOWN.glob("*/*.json"), key=lambda path: path.name):
        told = json.loads(path.read_text())
        entry = catalogue.module(told["name"])
        hidden = getattr(entry, "SINGLE_INPUTS", False) or not told.get("shows", True)
        if hidden or catalogue.left_out(entry, params):
            continue
        file = drawing.FOLDER / told["part"] / f"{told['name']}.{KEPT[told['kind']]}"
        same = file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == told["files"][file.name]
        if told["profile"] != params.profile or not same:
            raise UserError(f"{file} is not that of this run: run `dvc repro`")
        found[file] = told
    if not found:
        raise UserError(f"{catalogue.SHOWN} holds no figure or table yet: run `dvc repro`")
    return found


def environment(made: Mapping[Path, Mapping[str, Any]]) -> str:
    """Versions and cores here, and on what the cells were trained, a line each; no name of a machine, no path."""
    pinned = re.findall(r"^([\w.-]+)==", Path("requirements.txt").read_text(), re.MULTILINE)
    where = sorted({tuple(made_by[word] for word in ("device", "torch", "python")) for made_by in made.values()})
    lines = [f"Python {platform.python_version()}", f"{os.cpu_count()} cores: {processor()}"]
    lines += [
        f"cells trained on {device}, with torch {torch} and Python {python}" for device, torch, python in where
    ]
    return "\n".join([*lines, *(f"{name}=={version(name)}" for name in pinned)]) + "\n"


def parameters(params: Params) -> str:
    """The parameters that the results were made with, of the profile in use alone, as YAML for `config.load`."""
    values = json.loads(kept.of_results(params))
    del values["components"]
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def write(
    folder: Path,
    texts: Mapping[str, str],
    tables: Mapping[str, pd.DataFrame],
    judged_from: tuple[pd.DataFrame, pd.DataFrame],
    files: Iterable[Path],
) -> None:
    """Make the folder hold exactly this, whole or not at all.

    Args:
        texts: by file name.
        tables: by stem; rounded (csv_files).
        judged_from: the pairs and facts that the claims follow from, not rounded.
        files: for figures/.
    """
    with atomic_folder(folder) as partial:
        for name, text in texts.items():
            (partial / name).write_text(text, encoding="utf-8")
        for name, rows in tables.items():
            csv_files.write(partial / f"{name}.csv", rows)
        grounds.save(*judged_from, partial)
        (partial / "figures").mkdir()
        for file in files:
            shutil.copyfile(file, partial / "figures" / file.name)


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise UserError("git is not there, so nothing says that the protocol is older than the runs") from None
    except subprocess.CalledProcessError as error:
        raise UserError(f"git cannot say how old the protocol is: {error.stderr.strip()}") from None
    return done.stdout.strip()
