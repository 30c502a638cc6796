"""Every published run has a line, in one table or the other, with its cells and the notes that name it."""

from pathlib import Path

import pandas as pd
import pytest

from descent.published import every_run
from tests.fakes.evidence import Made
from tests.published.test_each_part import published


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    two = Made().video(models=("ut",), layers=(3, 5), datasets=("ucsd",)).table()
    one = Made().video(models=("dust",), layers=(3,), datasets=("avenue",)).table()
    names = ("small-00000001", "small-00000002")
    return [published(tmp_path / name, rows) for name, rows in zip(names, (two, one), strict=True)]


def test_a_run_has_one_line_in_the_table_of_its_kind(folders: list[Path]) -> None:
    together, alone = every_run.tables(folders[:1], folders[1:]).split("*Judged alone*")
    assert together.startswith("*Judged together*") and "00000002" not in together and "00000001" not in alone
    assert "| video: UT on UCSD (L = 3 5) |" in together and "| video: DUST on Avenue (L = 3) |" in alone
    cells = {folder: int(pd.read_csv(folder / "cells.csv")["trained"].sum()) for folder in folders}
    assert cells[folders[0]] < len(pd.read_csv(folders[0] / "cells.csv")), "maps that learn nothing are no cells"
    row = together.strip().splitlines()[-1].split(" | ")
    assert int(row[2]) + int(row[3]) == cells[folders[0]] and int(row[4]) == 8
    assert every_run.tables([], []) == ""
    assert every_run.tables(folders, []).count("| [small-") == 2


def test_notes_are_linked_by_the_headings_that_name_a_run(folders: list[Path]) -> None:
    heading = "UT on UCSD, once (`small-00000001`; and more)"
    (folders[0].parent / every_run.NOTES).write_text(f"# Notes\n\n## {heading}\n\nof small-00000002\n")
    first, second = every_run.tables(folders, []).strip().splitlines()[-2:]
    assert first.endswith("| [UT on UCSD, once](NOTES.md#ut-on-ucsd-once-small-00000001-and-more) |")
    assert second.endswith("|  |"), "the text of the notes is no heading"
