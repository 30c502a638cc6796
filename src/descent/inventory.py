"""What the profile in use needs from outside: told, and looked for, before anything is made."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from descent import components
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.io import places

PATIENCE = 5.0  # seconds for a server to say how long a file is
FROM = ("weights", "embeddings")  # of a model's budget, what may come from outside


@dataclass(frozen=True)
class Need:
    """One thing that is not generated: where it is looked for, or what it is fetched from."""

    what: str
    path: Path | None = None  # a copy of the user's own
    url: str | None = None
    hub: str | None = None
    holding: str = ""  # what a copy of a data set holds, and where it comes from


def needs(params: Params) -> list[Need]:
    """The data sets, tokenizers and weights of the parts in use, in the order of the pipeline."""
    return [need for task in TASKS for need in _of_task(params, task)]


def check(params: Params, dataset: str) -> list[str]:
    """What will be fetched, a line each.

    Args:
        dataset: the one whose server is asked how long its file is. Each data set has a stage of its own, so all
            sizes are told once, and without a network no stage waits for more than one server.

    Raises:
        UserError: copies of the user's own are missing: all of them, and where to put each.
    """
    found = needs(params)
    missing = [need for need in found if need.path is not None and not _there(need.path)]
    if missing:
        lines = [f"  {need.what}: {need.path}{need.holding}" for need in missing]
        raise UserError(
            f"profile {params.profile} needs what is not there ({len(missing)} of {len(found)}):\n"
            + "\n".join(lines)
            + "\nPut copies there, say where yours are (`dvc exp run -S local_data=<folder>`), or leave out what "
            "you do not have (empty lists of data sets or models: README, A part of it)."
        )
    asked = _of_dataset(dataset)
    return [f"{need.what}: {_fetched(need, need.what == asked)}" for need in found if need.url or need.hub]


def told(params: Params) -> list[str]:
    """All that the profile in use needs from outside, a line each: what is there, then what will be fetched.

    Raises:
        UserError: as `check`.
    """
    fetched = check(params, "")
    there = [f"{need.what}: {need.path}" for need in needs(params) if need.path is not None]
    lines = [f"there: {line}" for line in there] + [f"to be fetched: {line}" for line in fetched]
    return lines or [f"profile {params.profile} needs nothing from outside: its data are generated"]


def _there(path: Path) -> bool:
    """Whether there is a file, or a folder with something in it."""
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def _of_dataset(name: str) -> str:
    return f"data set {name}"


def _of_task(params: Params, task: str) -> Iterable[Need]:
    part, grids = getattr(params, task), getattr(params.budget, task)
    if not (part.datasets and part.models):
        return
    for name in part.datasets:
        said = components.declared(f"tasks.{task}.datasets", name)
        holding = f"\n    holding {said['TREE']}; official source: {said['ADDRESS']}"
        yield from _of_source(params, _of_dataset(name), params.source(task, name).model_dump(), holding)
    for name in params.tokenizers(task):
        yield from _of_source(params, f"tokenizer {name}", grids.tokenizers[name].model_dump())
    for model in part.models:
        budget = params.model_budget(model)
        for key in FROM:
            if isinstance(budget.get(key), dict):
                yield from _of_source(params, f"{key} of {model}", budget[key])


def _of_source(params: Params, what: str, source: dict[str, Any], holding: str = "") -> Iterable[Need]:
    if source.get("path"):
        yield Need(what, path=places.local(params.local_data, source["path"]), holding=holding)
    elif source.get("url"):
        yield Need(what, url=source["url"])
    elif source.get("hub"):
        yield Need(what, hub=source["hub"]["id"])


def _fetched(need: Need, sized: bool) -> str:
    if need.hub:
        return f"{need.hub}, from the Hugging Face hub unless it is cached"
    if not sized:
        return need.url
    try:
        length = requests.head(need.url, timeout=PATIENCE, allow_redirects=True).headers.get("Content-Length")
    except (requests.RequestException, ValueError):  # of some addresses it says the latter
        return f"{need.url} (its server does not answer now)"
    known = length is not None and length.isdecimal()
    return f"{need.url} ({int(length):,} bytes)" if known else f"{need.url} (of unknown length)"
