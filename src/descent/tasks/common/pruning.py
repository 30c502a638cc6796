"""What of the store no params.yaml asks for: neither the working one, nor that of a branch or an experiment.

A cell is asked for where some params.yaml, in any of its profiles, names its data set, model, arm, depth, noise
level and seed with its setting (objective and learning rate). What a search or another cell chose is not compared,
nor are budgets, code and data, so that what is kept may be stale. Of a cell that two models share the name that
trained it counts. An unfinished stack is kept for a week after it was last written, and so is what may belong to
a stage that began meanwhile. What is dropped costs time.
"""

import json
import math
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from descent import config
from descent.analysis import results
from descent.cells import Cell, grid
from descent.config import Params
from descent.errors import UserError
from descent.io.folders import abandoned
from descent.runner import integrity, store
from descent.runner.stored import Stored
from descent.schema import validated
from descent.tasks.common.items import given, readings, setting

REFS = ("refs/heads", "refs/remotes", "refs/exps")  # the last are DVC's: finished, queued and running experiments
QUEUES = (
    "refs/exps/celery",
    "refs/exps/stash",
)  # a stash each, of which the ref is the newest entry alone, and its log has them all
WHICH = ("dataset", "model", "arm", "layers", "eps", "seed")  # what tells a cell that is asked for
FORGOTTEN = 7 * 24 * 3600  # seconds since an unfinished stack was written last: its cells' settings are not known
MANY = 10**6  # epochs, of which no warm-up leaves none
FREE = ""  # in place of a setting that params.yaml does not give


def prune(root: Path, params: list[Params]) -> tuple[int, int]:
    """Delete what none of these parameters asks for; returns how many entries are kept, and how many gone."""
    asked: dict[tuple, set[str]] = {}
    for own in params:
        for identity, values in _asked(own):
            asked.setdefault(identity, set()).add(values)
    kept = gone = 0
    for place in _entries(root):
        if _wanted(place, asked):
            kept += 1
        else:
            gone += 1
            with suppress(FileNotFoundError):  # a stage that runs meanwhile was faster
                shutil.rmtree(place) if place.is_dir() else place.unlink()
    return kept, gone


def every_params() -> list[Params]:
    """The parameters of the working folder, of all branches and of all experiments.

    Raises:
        UserError: one that this code cannot read: what it asks for is not known.
    """
    texts = {"params.yaml": Path("params.yaml").read_text()}
    refs = _git("for-each-ref", "--format=%(refname)", *REFS).split()
    queued = [_git("log", "--walk-reflogs", "--format=%H", ref).split() for ref in refs if ref.startswith(QUEUES)]
    for ref in dict.fromkeys([*refs, *chain(*queued)]):
        if _git("ls-tree", "--name-only", ref, "--", "params.yaml"):
            text = _git("show", f"{ref}:./params.yaml")  # of this folder, which may lie in a repository's
            if text not in texts.values():
                texts[ref] = text
    return [_read(where, text) for where, text in texts.items()]


def _read(where: str, text: str) -> Params:
    file = store.root() / ".params.yaml"
    file.parent.mkdir(exist_ok=True)
    try:
        file.write_text(text)
        params = config.load(file)
        _profiles(params)  # a mistake in any of them is told with where it stands
        return params
    except UserError as error:
        raise UserError(
            f"the params.yaml of {where} cannot be read by this code, so that nobody knows what it asks for: "
            f"delete that branch or experiment, or keep the store as it is\n{error}"
        ) from None
    finally:
        file.unlink(missing_ok=True)


def _git(*words: str) -> str:
    """What git says; nothing where there is no repository.

    Raises:
        UserError: it cannot say what branches there are, or what one of them holds.
    """
    found = subprocess.run(["git", *words], capture_output=True, encoding="utf-8", errors="replace")
    here = Path.cwd()
    if found.returncode and any((folder / ".git").exists() for folder in (here, *here.parents)):
        reason = (found.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UserError(
            f"git cannot tell what branches and experiments ask for ({reason}): the store is kept whole"
        )
    return found.stdout


def _asked(params: Params) -> Iterator[tuple[tuple, str]]:
    """The identity of every cell that the profiles of a params.yaml ask for, each with its setting."""
    for own in _profiles(params):
        in_use = own.profile == params.profile
        for task, dataset, model in own.places:
            yield from _trainable(own, model, partial(_of_grid, task, dataset, model), in_use)
        for name in filter(own.valued, own.studies):
            model = own.studied(name).model
            if in_use or own.budgeted(model):  # a study may run alone, whose model is not in use
                yield from _trainable(own, model, partial(_of_study, name), in_use)


def _of_grid(task: str, dataset: str, model: str, params: Params) -> Iterator[tuple[tuple, str]]:
    for cell in grid(params, task, dataset, model):
        yield _which(vars(cell)), _values(params, cell)


def _of_study(name: str, params: Params) -> Iterator[tuple[tuple, str]]:
    for own, cells in readings(params, name):
        for cell in cells:
            yield _which(vars(cell)), _values(own, cell)


def _trainable(
    params: Params, model: str, ask: Callable[[Params], Iterator[tuple[tuple, str]]], in_use: bool
) -> list[tuple[tuple, str]]:
    """What a grid or a study asks for; nothing where a profile that is not in use has too few epochs for it.

    Raises:
        UserError: what is wrong with it is not that alone.
    """
    try:
        return list(ask(params))
    except UserError:
        if in_use:
            raise
        list(ask(params.with_budget(model, {"epochs": MANY})))
        return []


def _profiles(params: Params) -> list[Params]:
    """These parameters with each profile in use that lacks nothing in use.

    Raises:
        UserError: one that is not right.
    """
    each = [params.model_copy(update={"profile": profile}) for profile in params.profiles]
    whole = [own for own in each if not own.lacking]
    return [validated(Params, own.model_dump(), f"profile {own.profile}") for own in whole]


def _values(params: Params, cell: Cell) -> str:
    if not given(params, cell):
        return FREE
    return json.dumps(setting(params, cell, params.replaced(cell)).definition(), sort_keys=True)


def _which(values: dict[str, Any]) -> tuple:
    return tuple(values[key] for key in WHICH)


def _entries(root: Path) -> Iterator[Path]:
    """Cells, scores, unfinished stacks, and what was set aside or half written; locks are none."""
    for place in sorted(root.iterdir()) if root.is_dir() else []:
        if place.name not in integrity.APART:
            yield place
    for apart in ("scores", "stacks"):
        yield from sorted((root / apart).glob("*"))


def _wanted(place: Path, asked: dict[tuple, set[str]]) -> bool:
    if place.name.startswith("."):  # being written, or the mark of a driver of Ray, which no lock guards
        return not abandoned(place) and _age([place]) < FORGOTTEN
    if place.parent.name == "scores":
        table = integrity.scores(place, results.COLUMNS) if place.suffix == ".parquet" else None
        return table is not None and (table.empty or _which(table.iloc[0].to_dict()) in asked)
    if place.parent.name == "stacks":
        return place.suffix in (".json", ".pt") and _age(place.parent.glob(f"{place.stem}.*")) < FORGOTTEN
    if integrity.fault(place, place.name):
        return False
    record = Stored(place).record
    settings = asked.get(_which(record["cell"]), set())
    return FREE in settings or json.dumps(record["setting"], sort_keys=True) in settings


def _age(places: Iterable[Path]) -> float:
    """Seconds since one of these was written last; without end where all are gone meanwhile."""
    written = -math.inf
    for place in places:
        with suppress(FileNotFoundError):
            written = max(written, place.stat().st_mtime)
    return time.time() - written
