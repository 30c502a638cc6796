"""The README and the pages that it links to as a newcomer uses them: headings, links, and commands."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOUBTS = ROOT / "docs/doubts.md"
FINDINGS = ROOT / "docs/findings.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


def text(pages: list[Path] = PAGES) -> str:
    """All of them."""
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def flat(page: Path = README, after: str = "", until: str = "\n## ") -> str:
    """A page, or what stands in it after some words and until others, on one line."""
    part = text([page])
    return " ".join((part.split(after, 1)[1].split(until)[0] if after else part).split())


def headings(page: Path = README) -> list[str]:
    """The sections of a page, and parts of them."""
    return re.findall(r"^##?#? (.+)$", text([page]), re.MULTILINE)


def links(page: Path) -> list[tuple[Path, str]]:
    """What a page links to in this repository: the file or folder, and the place in it or nothing."""
    found = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text([page]))
    return [((page.parent / path).resolve() if path else page, place) for path, place in found]


def commands(heading: str = "") -> list[str]:
    """What stands in the shell blocks under a heading of the README, or in all of every page, a command a line,
    without comments."""
    part = text([README]).split(f"\n## {heading}\n")[1].split("\n## ")[0] if heading else text()
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", part, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#\s.*", "", line).strip() for line in blocks.splitlines())
    return [" ".join(line.split()) for line in lines if line]
