"""Beside another process progress is told in whole lines: items done, items in all, time left."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from descent.io import progress

ROOT = Path(__file__).parents[2]
KIND = "from descent.io import progress; print(progress.Bar.__name__)"


def test_lines_are_whole_and_end_with_all_that_was_done() -> None:
    written = io.StringIO()
    with progress.Lines(total=40, desc="an item", unit="cell", file=written, mininterval=0) as bar:
        for _ in range(4):
            bar.update(10)
    lines = written.getvalue().splitlines()
    assert "\r" not in written.getvalue() and written.getvalue().endswith("\n")
    assert all(line.startswith("an item: ") and " left" in line for line in lines)
    assert [line.split(",")[0] for line in lines] == [f"an item: {n} of 40 cell" for n in (10, 20, 30, 40, 40)]


@pytest.mark.parametrize("kind", [progress.OneBar, progress.Lines])
def test_parts_of_an_item_are_told_without_the_rounding_of_their_sum(kind: type[progress.Lines]) -> None:
    written = io.StringIO()
    told = {"desc": "a", "unit": "epoch", "mininterval": 0, "ncols": 90}
    with kind(total=1_152_000, unit_scale=1 / 100, file=written, **told) as bar:
        bar.update(83)
    assert " 0.83 of 11520 epoch" in written.getvalue() and "0.83000" not in written.getvalue()


@pytest.mark.parametrize("kind", [progress.OneBar, progress.Lines])
@pytest.mark.parametrize(("total", "done"), [(0, 0), (100, 200), (None, 3)])
def test_nothing_to_do_more_than_all_and_no_end_are_no_fault(
    kind: type[progress.Lines], total: int | None, done: int
) -> None:
    with kind(total=total, unit_scale=1 / 100, desc="a", unit="epoch", file=io.StringIO()) as bar:
        bar.update(done)
        assert f" {done / 100:g} of " in str(bar)


@pytest.mark.parametrize("kind", [progress.OneBar, progress.Lines])
def test_what_was_done_before_is_counted_and_says_nothing_of_the_time_left(kind: type[progress.Lines]) -> None:
    with kind(total=100, desc="a", unit="b", file=io.StringIO(), mininterval=0) as bar:
        now = bar.start_t = bar.last_print_t = 0.0
        bar._time = lambda: now
        bar.known(50)
        assert "50 of 100 b" in str(bar)
        for _ in range(5):
            now += 10
            bar.update(1)
        assert "55 of 100 b" in str(bar) and bar.format_dict["rate"] == pytest.approx(1 / 10)


def test_what_takes_no_time_is_one_line_and_nothing_done_is_none() -> None:
    for done, lines in ((3, 1), (0, 0)):
        written = io.StringIO()
        with progress.Lines(total=3, desc="a", unit="b", file=written) as bar:
            bar.update(done)
        assert len(written.getvalue().splitlines()) == lines


def test_a_log_and_the_halves_of_make_get_lines() -> None:
    quiet = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MAKEFLAGS": " -j2 --jobserver-auth=3,4"}
    found = subprocess.run((sys.executable, "-c", KIND), env=quiet, capture_output=True, text=True, check=True)
    assert found.stdout == "Lines\n"
