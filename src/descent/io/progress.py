"""Items done, items in all, time left: a bar on a terminal of one's own, whole lines where others write too."""

import os
import sys
from typing import Any

from tqdm import tqdm

SECONDS = 10.0  # between two lines
FORMAT = "{desc}: {n_fmt} of {total_fmt} {unit}, {elapsed} gone, {remaining} left"


class Lines(tqdm):
    """As a bar, in lines of its own: two processes side by side do not write over each other, nor over a log."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **{"mininterval": SECONDS, "delay": 1e-9, "bar_format": FORMAT} | words)

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


# `make --jobs` names its job server to all that it starts: the other half of the pipeline is on this terminal.
ALONE = sys.stderr.isatty() and "--jobserver" not in os.environ.get("MAKEFLAGS", "")
Bar = tqdm if ALONE else Lines
