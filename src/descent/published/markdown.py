"""Pieces of Markdown that the published words are put together from."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def pipe(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A pipe table; a cell's own bars and line breaks cannot break it. Empty where it has no row."""
    if not (rows := list(rows)):
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(word) for word in line) + " |" for line in lines)


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; `a; b, of its own comma; and c`."""
    if any(", " in word for word in words) and len(words) > 1:
        return "; ".join([*words[:-1], f"and {words[-1]}"])
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def linked(folder: Path) -> str:
    """A published part by its name, from the folder that holds all of them."""
    return f"[{folder.name}]({folder.name}/REPORT.md)"


def anchor(heading: str) -> str:
    """Where a link to a heading of a page leads, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _cell(word: object) -> str:
    return " ".join(str(word).replace("|", r"\|").split())
