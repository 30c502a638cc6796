"""The table of measurements: a row takes its older one's place, and the README quotes what the file holds."""

import csv
from pathlib import Path

import pytest
import torch

from tests.bench.table import BLOCK, EXACT, MISSED, quote, quoted, record
from tests.fakes.core import ROOT

CPU = torch.device("cpu")


def test_a_row_measured_again_replaces_its_older_one(tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    for value in (1.25, 1.5):
        record("a / b", "of  this", value, "at most 2", CPU, EXACT, path)
    record("a / b", "of that", 3.0, "at most 2", CPU, EXACT, path)
    with path.open() as file:
        rows = [(row["setting"], row["value"]) for row in csv.DictReader(file)]
    assert rows == [("of this", "1.5"), ("of that", "3")]


def test_a_row_of_another_precision_stands_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    for precision, value in (("float32", 1.25), ("bf16", 1.5), ("float32", 1.0)):
        record("a / b", "of this", value, "at most 2", CPU, precision, path)
    with path.open() as file:
        rows = [(row["precision"], row["value"]) for row in csv.DictReader(file)]
    assert rows == [("bf16", "1.5"), ("float32", "1")]
    assert "| of this | bf16 | 1.5 |" in quoted(path)


@pytest.mark.parametrize(
    ("value", "limit", "missed"),
    [
        (1.11, "at most 1.10", True),
        (1.10, "at most 1.10", False),
        (0.9, "at least 1", True),
        (1.0, "above 1", True),
        (2.0, "at least 5 on a GPU", False),
        (9.0, "small beside the margin", False),
    ],
)
def test_what_misses_its_figure_is_marked(tmp_path: Path, value: float, limit: str, missed: bool) -> None:
    path = tmp_path / "bench.csv"
    record("a / b", "of this", value, limit, CPU, EXACT, path)
    assert (MISSED in quoted(path)) == missed


def test_the_readme_gets_it_between_its_markers_and_nothing_else_changes(tmp_path: Path) -> None:
    path, readme = tmp_path / "bench.csv", tmp_path / "README.md"
    record("a / b", "of this", 1.25, "at most 2", CPU, EXACT, path)
    readme.write_text("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n")
    quote(readme, path)
    text = readme.read_text()
    assert text.startswith("before\n<!-- bench -->\n| measured |") and text.endswith("<!-- /bench -->\nafter\n")
    assert "| a / b | of this | float32 | 1.25 | at most 2 |" in text and "old" not in text


def test_the_readme_quotes_the_table_as_it_is() -> None:
    [(begin, end)] = [(found[1], found[2]) for found in BLOCK.finditer((ROOT / "README.md").read_text())]
    assert f"{begin}{quoted(ROOT / 'data/bench.csv')}\n{end}" in (ROOT / "README.md").read_text()
