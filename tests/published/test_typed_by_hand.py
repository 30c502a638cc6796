"""What the README's bullets say by hand is what its block and the pages say, which code writes."""

import re

import pytest

from descent.analysis import paper_tables
from descent.analysis.wording import signed
from tests.newcomer import readme

HELD = r"within the tolerance in (\d+) of the (\d+) on validation data, and in (\d+) on test data"
BY_HAND = r"in all (\d+) constrained models \(by as much as asked in (\d+); on test data in (\d+)\)"


@pytest.fixture(scope="module")
def bullets() -> tuple[str, str]:
    """What is typed, and the block."""
    typed, block = readme.README.read_text().split("## What was found")[1].split("<!-- evidence -->")
    return " ".join(typed.split()), block


def test_the_models_that_descend_and_hold_are_those_of_the_page(bullets: tuple[str, str]) -> None:
    page = (readme.ROOT / "data/evidence/README.md").read_text()
    held, every, tested = re.search(HELD, page).groups()
    assert re.search(BY_HAND, bullets[0]).groups() == (every, held, tested)
    assert f"**{every} of {every} constrained models**" in bullets[1]


def test_where_the_gain_turns_and_how_far_it_goes_is_that_of_the_block(bullets: tuple[str, str]) -> None:
    best, turn = re.search(r"up to ([\d.]+) % less from ([\d.]+) on", bullets[0]).groups()
    told = re.search(r"\+([\d.]+) % at gamma = 0.6 \(better from ([\d.]+) on\)", bullets[1]).groups()
    assert tuple(map(float, (best, turn))) == tuple(map(float, told))


def test_the_medians_of_the_papers_table_are_worked_out_from_it(bullets: tuple[str, str]) -> None:
    depths = paper_tables.by_depth(paper_tables.read(readme.ROOT / paper_tables.VIDEO))
    medians = depths[depths["model"] == "UT"].sort_values("layers")["all"]
    said = ", ".join(signed(value).removeprefix("+") for value in medians)
    assert f"({said} %)" in bullets[0]
