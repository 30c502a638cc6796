"""python -m tests.newcomer.first_hour: a newcomer's figures, measured in a fresh clone of the last commit.

It installs, runs the demo and then the README's own commands: about half an hour of two idle cores, and a package
index. A line for each figure; ends with 1 where one is missed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.video import levels, write_pictures
from tests.newcomer import readme

COMPARE = "Change something and compare"
OWN = "My own data"


def main() -> None:
    """Measure, print, and fail where a figure is missed."""
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(readme.ROOT), str(clone)], check=True)
        missed = [name for name, value, most, unit in measured(clone) if not told(name, value, most, unit)]
    sys.exit(bool(missed))


def measured(clone: Path) -> Iterator[tuple[str, float, float, str]]:
    """Of every figure its name, what was found, the most that it may be, and the unit."""
    yield "clone to first figure", first_figure(clone), 7 * 60, "s"
    compare = readme.commands(COMPARE)
    eps = next(command for command in compare if "-S eps=" in command)
    *compared, shows = compare[compare.index(eps) + 2 : compare.index("git checkout params.yaml")]
    at_eps = run(clone, eps)
    yield "lines that -S changes", changed_lines(clone), 1, "lines"
    arms = sum(run(clone, command) for command in compared)
    yield "eps, then the two arms, then their difference", at_eps + arms, 3 * 60, "s"
    began = time.monotonic()
    shown = output(clone, shows)
    yield "five README commands in a row", arms + time.monotonic() - began, 5 * 60, "s"
    yield "dvc exp show", max(map(len, shown.splitlines())), 100, "columns"
    run(clone, "git checkout params.yaml")
    own_frames(clone / "data/local/ucsd")
    quick = next(command for command in readme.commands(OWN) if "video.datasets" in command)
    yield "own frames to Table 3, one command", run(clone, quick), 10 * 60, "s"
    assert (clone / "figures/video/table3_video_rmse.md").read_text().count("| DUST |")


def first_figure(clone: Path) -> float:
    """Seconds of `make repro` until a picture is there; it is then let finish."""
    began = time.monotonic()
    with started(clone, "make repro") as running:
        while running.poll() is None and not any(clone.glob("figures/*/*.png")):
            time.sleep(0.2)
        seconds = time.monotonic() - began
    return seconds


def changed_lines(clone: Path) -> int:
    """How many lines of params.yaml git calls changed."""
    added, removed, _ = output(clone, "git diff --numstat -- params.yaml").split()
    return max(int(added), int(removed))


def own_frames(folder: Path) -> None:
    """Frames and nothing else: clips as a camera's folders hold them."""
    for part, clips in (("train", 6), ("test", 2)):
        for clip in range(clips):
            write_pictures(folder / part / f"{clip:02d}", levels(20 + clip), ".tif")


def run(clone: Path, command: str) -> float:
    """Seconds of a command that nobody answers."""
    began = time.monotonic()
    with started(clone, command):
        pass
    return time.monotonic() - began


@contextmanager
def started(clone: Path, command: str) -> Iterator[subprocess.Popen]:
    """A command in the clone, in its own environment; at the end it must have done well."""
    print(f"$ {command}", flush=True)
    running = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, **_place(clone))
    yield running
    if running.wait():
        sys.exit(f"{command}: ended with {running.returncode}")


def output(clone: Path, command: str) -> str:
    """What a command says, as wide as it likes."""
    return subprocess.run(
        command, shell=True, check=True, text=True, stdout=subprocess.PIPE, **_place(clone)
    ).stdout


def told(name: str, value: float, most: float, unit: str) -> bool:
    """Print one figure; whether it is reached."""
    print(
        f"{name}: {value:.0f} {unit}, at most {most:.0f}: {'reached' if value <= most else 'MISSED'}", flush=True
    )
    return value <= most


def _place(clone: Path) -> dict[str, object]:
    path = os.pathsep.join([str(clone / ".venv/bin"), os.environ["PATH"]])
    return {"cwd": clone, "env": os.environ | {"PATH": path}}


if __name__ == "__main__":
    main()
