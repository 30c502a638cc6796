"""The open places: folders in which one file is one arm, model, shift or data set, found by its name.

The folder is the registry, and the name of a file the word in params.yaml. What a component says of itself for
others to read (label, task, inputs) are plain assignments of literals to names in capitals at the top of its file:
they are read without importing it, as figures never load torch.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from descent.errors import UserError

HERE = Path(__file__).parent
# What every component of a place must have; those of arms, models and shifts are classes and functions too.
PLACES = {
    "arms": ("LABEL", "ENFORCES", "ALL_LAYERS", "Settings", "Arm"),
    "models": ("LABEL", "TASK", "Settings", "Budget", "build"),
    "shifts": ("LABEL", "TASKS", "ENERGY", "Settings", "apply"),
    "tasks.video.datasets": ("LABEL", "TREE", "ADDRESS"),
    "tasks.text.datasets": ("LABEL", "TREE", "ADDRESS", "CLASSES", "TRAIN", "TEST", "TEXTS"),
    "tasks.lm.datasets": ("LABEL", "TREE", "ADDRESS", "INSTRUCTIONS", "PROMPTS"),
}
TASKS = ("video", "text", "lm")
TRAINED = "gaussian"  # of shifts, the noise of training, of which all the paper's sweeps are


def names(place: str) -> list[str]:
    """The components of a place, in the order of the alphabet."""
    folder = _folder(place)
    return list(_names(folder, folder.stat().st_mtime_ns))


def check(place: str, name: str, where: str) -> None:
    """Raises UserError, with the known names, where a place has no such component; `where` says who named it."""
    if name not in names(place):
        raise UserError(f"{where}: unknown name {name!r}; known: {', '.join(names(place))} ({_folder(place)}/)")


def load(place: str, name: str) -> ModuleType:
    """The module of a component.

    Raises:
        UserError: there is none of that name, it cannot be imported, or it lacks something that every one has.
    """
    check(place, name, place)
    try:
        module = import_module(f"descent.{place}.{name}")
    except (ImportError, SyntaxError, NameError, AttributeError, TypeError) as error:
        raise UserError(f"{_folder(place)}/{name}.py cannot be imported: {error}") from None
    missing = [word for word in PLACES[place] if not hasattr(module, word)]
    if missing:
        raise UserError(f"{_folder(place)}/{name}.py has no {', '.join(missing)}: every file of that folder has")
    return module


def check_task(task: str) -> None:
    """Raises UserError, with the known ones, where there is no such task."""
    if task not in TASKS:
        raise UserError(f"unknown task {task!r}; known: {', '.join(TASKS)}")


def of_task(task: str, part: str) -> ModuleType:
    """The module of a task that has this name in every task's folder.

    Raises:
        UserError: there is no such task.
    """
    check_task(task)
    return import_module(f"descent.tasks.{task}.{part}")


def declared(place: str, name: str) -> dict[str, Any]:
    """The literals in capitals at the top of a component's file, without importing it.

    Raises:
        UserError: there is none of that name, it is not Python, it lacks something that every one says, or is like
            another that there is not.
    """
    check(place, name, place)
    path = _folder(place) / f"{name}.py"
    found = dict(_literals(path, path.stat().st_mtime_ns))
    if not isinstance(found.get("LABEL"), str):
        raise UserError(f"{path} has no LABEL, the words that figures show for it")
    missing = [word for word in PLACES[place] if word.isupper() and word not in found]
    if missing:
        raise UserError(f"{path} has no {', '.join(missing)}: every file of that folder has, as a plain literal")
    if "LIKE" in found:
        check(place, found["LIKE"], f"LIKE in {path}")
    return found


def describe() -> dict[str, dict[str, dict[str, Any]]]:
    """What all components say of themselves, by place and name."""
    return {place: {name: declared(place, name) for name in names(place)} for place in PLACES}


@cache
def _names(folder: Path, changed: int) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))


@cache
def _literals(path: Path, changed: int) -> tuple[tuple[str, Any], ...]:
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError as error:
        raise UserError(f"{path} is not Python: {error}") from None
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found.append((node.targets[0].id, ast.literal_eval(node.value)))
            except ValueError:  # computed: for those who import it
                continue
    return tuple((name, value) for name, value in found if name.isupper())


def _folder(place: str) -> Path:
    return HERE.joinpath(*place.split("."))
