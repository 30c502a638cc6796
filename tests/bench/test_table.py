"""The table of measurements: a row takes its older one's place; a page and the README say what the file holds."""

import csv
from pathlib import Path

import pytest
import torch

from tests.bench.table import BLOCK, EXACT, MISSED, PAGE, of_cpus, of_gpus, page, quote, reached, record
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
    assert (MISSED in of_cpus(path)) == missed


@pytest.mark.parametrize(("value", "missed"), [(0.6, True), (0.5, False)])
def test_precisions_of_a_gpu_stand_side_by_side(
    tmp_path: Path, value: float, missed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")
    path, card = tmp_path / "bench.csv", torch.device("cuda")
    for precision, own in (("bf16", value), ("float32", 2.0)):
        record("hours", "of this", own, "at most 0.5 on one H200", card, precision, path)
    record("a / b", "of this", 1.25, "at most 2", CPU, EXACT, path)
    marked = f"{value}{MISSED * missed}"
    row = f"| hours | of this | 2{MISSED} |  | {marked} | at most 0.5 on one H200 | NVIDIA H200 |"
    assert row in of_gpus(path) and "a / b" not in of_gpus(path)
    assert "| a / b |" in of_cpus(path) and "hours" not in of_cpus(path)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100")
    record("days", "of this", 9.0, "at most 0.5 on one H200", card, EXACT, path)
    assert "| days | of this | 9 |" in of_gpus(path), "asked of another card"


def test_what_should_be_reached_is_told_from_least_to_most_by_kind_of_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")
    path, card = tmp_path / "bench.csv", torch.device("cuda")
    for setting, value in (("this", 10.0), ("that", 9.5), ("other", 1.25)):
        record("a / b", setting, value, "at most 2", CPU, EXACT, path)
    record("a / b", "this", 1.5, "at most 2", card, EXACT, path)
    record("hours", "this", 3.0, "at least 5 on a GPU", CPU, EXACT, path)
    record("hours", "this", 3.0, "at least 5 on a GPU", card, EXACT, path)
    record("told", "this", 3.0, "bounded", CPU, EXACT, path)
    assert reached(path).splitlines()[2:] == [
        f"| a / b | at most 2 | 1.25 to 10 (2 of 3{MISSED}) | 1.5 |",
        f"| hours | at least 5 on a GPU |  | 3 (1 of 1{MISSED}) |",
    ]


def test_the_readme_gets_it_between_its_markers_and_nothing_else_changes(tmp_path: Path) -> None:
    path, readme, whole = tmp_path / "bench.csv", tmp_path / "README.md", tmp_path / "BENCH.md"
    record("a / b", "of this", 1.25, "at most 2", CPU, EXACT, path)
    readme.write_text("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n")
    quote(readme, path, whole)
    text = readme.read_text()
    assert text == f"before\n<!-- bench -->\n{reached(path)}\n<!-- /bench -->\nafter\n"
    assert "| a / b | at most 2 | 1.25 |" in text
    assert "| a / b | of this | 1.25 | at most 2 |" in whole.read_text()


def test_the_readme_and_the_page_say_what_the_table_holds() -> None:
    table = ROOT / "data/bench.csv"
    [found] = BLOCK.finditer((ROOT / "README.md").read_text())
    assert found[0] == f"{found[1]}{reached(table)}\n{found[2]}"
    assert (ROOT / PAGE).read_text() == page(table)
