"""Items done, items in all, time left: a bar on a terminal of one's own, whole lines where others write too."""

import os
import sys
from typing import Any

from tqdm import tqdm

SECONDS = 10.0  # between two lines
LINE = "{desc}: {done} of {all} {unit}, {elapsed} gone, {remaining} left"
BAR = "{desc}: {percentage:3.0f}%|{bar}| {done} of {all} {unit} [{elapsed} gone, {remaining} left]"


class OneBar(tqdm):
    """A bar that moves."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **{"bar_format": BAR} | words)

    @property
    def format_dict(self) -> dict[str, Any]:
        """As tqdm's, with what is `done` of `all`: 0.83 where parts of an item add up to 0.8300000000000001."""
        told = super().format_dict
        numbers = {"done": self.n, "all": self.total}
        return told | {name: _number(value, told["unit_scale"]) for name, value in numbers.items()}

    def known(self, done: int) -> None:
        """Count what was done before: it took no time here, and says nothing of what is left."""
        for count in ("initial", "n", "last_print_n"):
            setattr(self, count, getattr(self, count) + done)

    def tell(self, done: int, before: bool = False) -> None:
        """Count what was done, here or before."""
        if before:
            self.known(done)
        else:
            self.update(done)


class Lines(OneBar):
    """As a bar, in lines of its own: two processes side by side do not write over each other, nor over a log."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **{"mininterval": SECONDS, "delay": 1e-9, "bar_format": LINE} | words)

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


def _number(value: int | float | None, scale: bool | int | float) -> str:
    if value is None:
        return "?"
    if isinstance(scale, float):
        return f"{round(value * scale, 2):.12g}"
    return tqdm.format_sizeof(value) if scale else str(value)


# `make --jobs` names its job server to all that it starts: the other half of the pipeline is on this terminal.
ALONE = sys.stderr.isatty() and "--jobserver" not in os.environ.get("MAKEFLAGS", "")
Bar = OneBar if ALONE else Lines
