"""Items done, items in all, time left: a bar on a terminal of one's own, whole lines where others write too."""

import os
import sys
from typing import Any

from tqdm import tqdm

SECONDS = 10.0  # between two lines
COUNT, SCALED = "{n_fmt} of {total_fmt}", "{n:.4g} of {total:.4g}"  # numbers, and what a factor makes of them
LINE = "{desc}: %s {unit}, {elapsed} gone, {remaining} left"
BAR = "{desc}: {percentage:3.0f}%%|{bar}| %s {unit} [{elapsed} gone, {remaining} left]"


class OneBar(tqdm):
    """A bar that moves."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **{"bar_format": _format(BAR, words)} | words)


class Lines(tqdm):
    """As a bar, in lines of its own: two processes side by side do not write over each other, nor over a log."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(
            *args, **{"mininterval": SECONDS, "delay": 1e-9, "bar_format": _format(LINE, words)} | words
        )

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Write one line; none where tqdm would wipe its bar."""
        if msg is None:
            self.fp.write(f"{self}\n")
            self.fp.flush()
        return False

    def close(self) -> None:
        """Tell how it ended, where anything was done."""
        if not self.disable and self.n:
            self.display()
        self.leave = False
        super().close()


def _format(how: str, words: dict[str, Any]) -> str:
    return how % (SCALED if isinstance(words.get("unit_scale"), float) else COUNT)


# `make --jobs` names its job server to all that it starts: the other half of the pipeline is on this terminal.
ALONE = sys.stderr.isatty() and "--jobserver" not in os.environ.get("MAKEFLAGS", "")
Bar = OneBar if ALONE else Lines
