"""In which share of a cell's epochs its constraints on descent acted, and whether in the reported one."""

import json
from pathlib import Path

import pandas as pd

from descent.runner.acting import acted
from descent.runner.stored import Stored

# lambda of the cap and of two layers by epoch: some of descent is above zero in three of four
EPOCHS = [(1, 0.4, 0.0, 0.0), (2, 0.0, 0.0, 0.3), (3, 0.0, 0.1, 0.0), (4, 0.0, 0.0, 0.2)]


def cell(place: Path, epochs: list[tuple], reported: int | None) -> Path:
    """A cell's folder with this history, whose weights are those of epoch `reported`."""
    place.mkdir()
    rows = [(epoch, layer, value) for epoch, *values in epochs for layer, value in enumerate(values)]
    log = pd.DataFrame(rows, columns=["epoch", "layer", "multiplier_mean"])
    log.to_csv(place / "history.csv", index=False)
    (place / "cell.json").write_text(json.dumps({"epoch": reported, "setting": {"values": {"cap_layer": 0}}}))
    return place


def test_an_epoch_counts_where_some_multiplier_of_descent_is_above_zero(tmp_path: Path) -> None:
    assert acted(Stored(cell(tmp_path / "a", EPOCHS, 4))) == {"active_epochs": 0.75, "active_reported": 1}
    assert acted(Stored(cell(tmp_path / "b", EPOCHS, 1))) == {"active_epochs": 0.75, "active_reported": 0}


def test_an_epoch_in_which_the_cap_alone_acts_does_not_count(tmp_path: Path) -> None:
    epochs = [(epoch, 0.4, 0.0, 0.0) for epoch in range(1, 5)]
    assert acted(Stored(cell(tmp_path / "a", epochs, 4))) == {"active_epochs": 0, "active_reported": 0}


def test_a_cell_without_weights_to_report_has_no_word_on_them(tmp_path: Path) -> None:
    assert acted(Stored(cell(tmp_path / "a", EPOCHS[:1], 0))) == {"active_epochs": 0}


def test_an_arm_without_multipliers_has_no_word_on_them(tmp_path: Path) -> None:
    place = cell(tmp_path / "a", EPOCHS, 4)
    log = pd.read_csv(place / "history.csv").drop(columns="multiplier_mean")
    log.to_csv(place / "history.csv", index=False)
    assert acted(Stored(place)) == {}
