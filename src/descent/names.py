"""The lists of names in params.yaml, and what must be among them."""

from typing import Any

from descent.components import TRAINED


def known(where: str, names: Any, choices: Any) -> None:
    """Raises ValueError where a name is none of these, or stands there twice."""
    for name in names:
        if name not in choices:
            raise ValueError(f"{where}: unknown name {name!r}; known: {', '.join(choices)}")
    if len(set(names)) < len(list(names)):
        raise ValueError(f"{where}: a name stands there twice: {', '.join(map(str, names))}")


def fit(where: str, shifts: list[str], task: str, declared: dict[str, dict[str, Any]]) -> None:
    """Raises ValueError where one of the shifts is of other tasks than this, as they declare."""
    for name in shifts:
        if task not in declared[name]["TASKS"]:
            fitting = ", ".join(other for other, said in declared.items() if task in said["TASKS"])
            raise ValueError(f"{where}: {name} does not fit {task}; shifts that do: {fitting}")


def judged(task: str, section: Any, grids: Any, profile: str) -> None:
    """Raises ValueError where what a task trains could not be judged, or would be taken for something else.

    Args:
        section: the task's, of params.yaml.
        grids: the task's, of the profile.
    """
    if TRAINED not in (grids.shifts or section.evaluation.shifts):
        where = f"profiles.{profile}.{task}.shifts" if grids.shifts else f"{task}.evaluation.shifts"
        raise ValueError(
            f"{where}: {TRAINED}, the noise of training, is missing: every cell is judged by it, add it"
        )
    if task == "video" and section.models:
        _told_apart(grids, section.frame.patch**2, f"profiles.{profile}.video")


def _told_apart(grids: Any, pixels: int, where: str) -> None:
    """A state of as many tokens as pixels is square, as a frame is."""
    own = {f"models.{name}.tokens": budget.get("tokens", 0) for name, budget in grids.models.items()}
    for key, tokens in {"tokens": grids.tokens, **own}.items():
        if tokens >= pixels:
            raise ValueError(
                f"{where}.{key}: a sequence of {tokens} patches, of which each has {pixels} pixels, would be "
                f"taken for a frame; take fewer than {pixels}"
            )


def endless(where: str, like: dict[str, str | None]) -> None:
    """Raises ValueError where a section is like one that is like it, in however many steps."""
    for name in like:
        seen, at = [name], like[name]
        while at in like and at not in seen:
            seen.append(at)
            at = like[at]
        if at in seen:
            raise ValueError(
                f"{where}: {' is like '.join([*seen, at])}, which says nothing: name another, or none"
            )
