"""params.yaml as text: what is not YAML, not sections, or larger than any person writes."""

import os
from collections.abc import Callable
from pathlib import Path

from descent.config import load
from tests.fakes.core import PARAMS
from tests.faults.case import Case

FILE = Path("params.yaml")
NOT_YAML = "params.yaml is not YAML"


def bomb(first: str, line: str, levels: int = 12) -> str:
    """Aliases of aliases: ten times as many values with each line."""
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{n}: &a{n} {line % ', '.join([f'*a{n - 1}'] * 10)}" for n in range(1, levels)]
    return "\n".join(lines)


# name, the file, the one sentence
TEXTS: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "should hold sections, not None"),
    ("of comments alone", "# nothing\n", "should hold sections, not None"),
    ("a word", "eps", "should hold sections, not 'eps'"),
    ("a number", "7", "should hold sections, not 7"),
    ("a list", "- eps\n- 0.1", "should hold sections"),
    ("an open bracket", "a: [", NOT_YAML),
    ("an open quote", 'a: "x', NOT_YAML),
    ("a tab for blanks", "a:\n\tb: 1", NOT_YAML),
    ("indented wrongly", "a: 1\n b: 2", NOT_YAML),
    ("two documents", "a: 1\n---\nb: 2", NOT_YAML),
    ("an unknown anchor", "a: *b", NOT_YAML),
    ("an unknown tag", "a: !word 1", NOT_YAML),
    ("an object of Python", "a: !!python/object/apply:os.system ['touch ran']", NOT_YAML),
    ("a module of Python", "a: !!python/module:os", NOT_YAML),
    ("a key twice", "eps: 1\neps: 2", "the key eps stands there twice"),
    ("a key twice in a section", "a:\n  b: 1\n  b: 2", "the key b stands there twice"),
    ("a list for a key", "? [a, b]\n: 1", NOT_YAML),
    ("a section for a key", "? {a: b}\n: 1", NOT_YAML),
    ("an alias of itself in a list", "a: &a [*a]", "refers to itself"),
    ("an alias of itself in a section", "a: &a\n  b: *a", "refers to itself"),
    ("a section merged into itself", "a: &a\n  <<: *a", NOT_YAML),
    ("a number merged", "a:\n  <<: 7", NOT_YAML),
    ("3,000 open brackets", "a: " + "[" * 3000, "nested too deeply|is not YAML"),
    ("3,000 nested lists", "a: " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    ("3,000 nested sections", "a: " + "{a: " * 3000 + "1" + "}" * 3000, "nested too deeply"),
    ("not UTF-8", b"a: \xff\xfe\x00", NOT_YAML),
    ("bytes of zero", b"a: 1\x00\x00", NOT_YAML),
    ("a program", b"\x7fELF\x02\x01\x01\x00", NOT_YAML),
    ("a number of 5,000 digits", f"eps: {'9' * 5000}", "is not YAML|is not right"),
    ("a key of 100,000 letters", f"{'k' * 100_000}: 1", "is not right|is not YAML"),
    ("JSON cut in half", PARAMS.read_text()[:2000] + "\n  x: [", NOT_YAML),
    ("a date for the profile", "profile: 2020-01-01", "is not right"),
    ("cut in half", PARAMS.read_text()[: PARAMS.stat().st_size // 3], "is not right|is not YAML"),
]
BOMBS = {
    "an alias bomb of lists": bomb("[x, x]", "[%s]"),
    "an alias bomb of merges": bomb("{x: 1}", "{<<: [%s]}"),
}


def read(text: str | bytes) -> Callable[[], object]:
    """Read a file that holds this."""

    def act() -> object:
        FILE.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            return load(FILE)
        finally:
            assert not Path("ran").exists(), "code ran"

    return act


def in_its_place(make: Callable[[], object]) -> Callable[[], object]:
    """Read what stands in the file's place."""

    def act() -> object:
        make()
        return load(FILE)

    return act


PLACES: list[tuple[str, Callable[[], object], str]] = [
    ("missing", lambda: None, "is missing; run from the project's root"),
    ("a folder", FILE.mkdir, "params.yaml is no file"),
    ("a dangling link", lambda: FILE.symlink_to("nowhere"), "is missing"),
    ("a link to itself", lambda: FILE.symlink_to(FILE.name), "params.yaml"),
    ("a pipe that nobody writes to", lambda: os.mkfifo(FILE), "is no file"),
    ("a device without an end", lambda: FILE.symlink_to("/dev/zero"), "is no file"),
]
CASES = [
    *(Case("parameter file", name, read(text), refused=told) for name, text, told in TEXTS),
    *(Case("parameter file", name, read(text), "aliases", alone=True) for name, text in BOMBS.items()),
    *(
        Case("parameter file", name, in_its_place(make), told, alone="device" in name or "pipe" in name)
        for name, make, told in PLACES
    ),
]
