"""What the profile in use needs from outside: told, and looked for, before anything is made."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from descent import components
from descent.config import Params
from descent.errors import UserError
from descent.io import hub, places

PATIENCE = 5.0  # seconds for a server to say how long a file is
FROM = ("weights", "embeddings")  # of a model's budget, what may come from outside


@dataclass(frozen=True)
class Need:
    """One thing that is not generated: where it is looked for, or what it is fetched from."""

    what: str
    path: Path | None = None  # a copy of the user's own
    url: str | None = None
    hub: dict[str, Any] | None = None
    kind: str = "model"  # of a repository of the hub, in its words
    holding: str = ""  # what a copy of a data set holds, and where it comes from


def needs(params: Params) -> list[Need]:
    """The data sets, prompts, tokenizers and weights of the parts in use, in the order of the pipeline."""
    return [need for task in params.tasks for need in _of_task(params, task)]


def check(params: Params, dataset: str) -> list[str]:
    """What will be fetched, a line each.

    Args:
        dataset: the one whose server is asked how much it holds. Each data set has a stage of its own, so all
            are told once, and without a network no stage waits for more than one server.

    Raises:
        UserError: copies of the user's own are missing: all of them, and where to put each.
    """
    found = present(params)
    asked = _of_dataset(dataset)
    return [f"{need.what}: {_fetched(need, need.what == asked)}" for need in found if need.url or need.hub]


def present(params: Params) -> list[Need]:
    """`needs`, of which no copy of the user's own is missing.

    Raises:
        UserError: some are: all of them, and where to put each.
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
    return found


def told(params: Params) -> list[str]:
    """All that the profile in use needs from outside, a line each: what is there, then what will be fetched, with
    how much that is.

    Raises:
        UserError: as `check`.
    """
    found = present(params)
    fetched = [need for need in found if need.url or need.hub]
    with ThreadPoolExecutor(max(1, len(fetched))) as together:  # without a network all of them wait at once
        sizes = together.map(lambda need: _fetched(need, sized=True), fetched)
        lines = [f"to be fetched: {need.what}: {size}" for need, size in zip(fetched, sizes, strict=True)]
    there = [f"there: {need.what}: {need.path}" for need in found if need.path is not None]
    return there + lines or [f"profile {params.profile} needs nothing from outside: its data are generated"]


def _there(path: Path) -> bool:
    """Whether there is a file, or a folder with something in it."""
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def _of_dataset(name: str) -> str:
    return f"data set {name}"


def _of_task(params: Params, task: str) -> Iterable[Need]:
    part = params.section(task)
    grids = params.budget.grids(task)
    for name in part.datasets:
        said = components.declared(f"tasks.{task}.datasets", name)
        holding = f"\n    holding {said['TREE']}; official source: {said['ADDRESS']}"
        source = params.source(task, name).model_dump()
        yield from _of_source(params, _of_dataset(name), source, holding, "dataset")
        if source.get("prompts"):  # of instructions from the hub, what is completed lies in another repository
            yield Need(f"prompts beside {name}", hub=source["prompts"], kind="dataset")
    for name in params.tokenizers(task):
        yield from _of_source(params, f"tokenizer {name}", grids.tokenizers[name].model_dump())
    studied = [study.model for study in params.in_use.values() if study.task == task and params.runs(study)]
    for model in dict.fromkeys([*part.models, *studied]):
        budget = params.model_budget(model)
        for key in FROM:
            if isinstance(budget.get(key), dict):
                yield from _of_source(params, f"{key} of {model}", budget[key])


def _of_source(
    params: Params, what: str, source: dict[str, Any], holding: str = "", kind: str = "model"
) -> Iterable[Need]:
    if source.get("path"):
        yield Need(what, path=places.local(params.local_data, source["path"]), holding=holding)
    elif source.get("url"):
        yield Need(what, url=source["url"])
    elif source.get("hub"):
        yield Need(what, hub=source["hub"], kind=kind)


def _fetched(need: Need, sized: bool) -> str:
    where = f"{need.hub['id']}, from the Hugging Face hub unless it is cached" if need.hub else need.url
    return f"{where} ({_size(need)})" if sized else where


def _size(need: Need) -> str:
    """How much a server says that it holds, in words; of a repository of the hub not all files are read."""
    try:
        length = _in_repository(need) if need.hub else _length(need.url)
    except (requests.RequestException, UserError, ValueError):  # of some addresses requests says the latter
        return "its server does not answer now"
    most = "at most " if need.hub else ""
    return "of unknown length" if length is None else f"{most}{length:,} bytes"


def _length(url: str) -> int | None:
    answer = requests.head(url, timeout=PATIENCE, allow_redirects=True)
    answer.raise_for_status()  # of a page that says that there is nothing, it would be its length
    said = answer.headers.get("Content-Length")
    return int(said) if said is not None and said.isdecimal() else None


def _in_repository(need: Need) -> int:
    from huggingface_hub import HfApi  # which takes a while to load

    words = {"revision": need.hub.get("revision"), "files_metadata": True, "timeout": PATIENCE}
    found = hub.answer(lambda: HfApi().repo_info(need.hub["id"], repo_type=need.kind, **words), need.what, "")
    return sum(file.size or 0 for file in found.siblings)
