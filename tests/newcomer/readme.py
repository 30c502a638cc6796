"""The README as a newcomer uses it: its headings, its links, and the commands under a heading."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def text() -> str:
    """All of it."""
    return (ROOT / "README.md").read_text(encoding="utf-8")


def headings() -> list[str]:
    """Its sections, and parts of them."""
    return re.findall(r"^###? (.+)$", text(), re.MULTILINE)


def links() -> list[str]:
    """The places in itself that it links to."""
    return re.findall(r"\]\(#([^)]+)\)", text())


def anchor(heading: str) -> str:
    """Where a link to a section leads."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(heading: str = "") -> list[str]:
    """What stands in the shell blocks under a heading, or in all, a command a line, without comments."""
    part = text().split(f"\n## {heading}\n")[1].split("\n## ")[0] if heading else text()
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", part, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#\s.*", "", line).strip() for line in blocks.splitlines())
    return [" ".join(line.split()) for line in lines if line]
