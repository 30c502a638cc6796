"""What a history says of how a cell trained, on a history made by hand."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from descent.cells import Cell
from descent.runner.acting import acted
from descent.runner.diagnostics import rows, slackness
from descent.runner.stored import Stored
from tests.fakes.core import small_params

EPOCHS, LAYERS = 8, 2
PROBLEM = small_params().problem("ucsd", "ut").model_copy(update={"warmup_epochs": 1, "resilience": "none"})
SETTING = {"setting": {"values": {"cap_layer": PROBLEM.cap_layer}}}
CELL = Cell("video", "ucsd", "ut", "constrained", LAYERS, 0.1, 0)


def written(
    place: Path,
    multiplier: list[float],
    arm: str = "constrained",
    by_epoch: bool = True,
    of: int = 1,
    **more: object,
) -> pd.DataFrame:
    """The rows of a cell whose lambda of layer `of` is `multiplier` by epoch, whose f_0 is 4 and 6 in turn."""
    place.mkdir()
    epochs = np.repeat(np.arange(1, EPOCHS + 1), LAYERS + 1)
    layers = np.tile(np.arange(LAYERS + 1), EPOCHS)
    log = pd.DataFrame({"epoch": epochs, "layer": layers})
    log["loss_train"] = np.where(layers == 0, 5.0 + (-1.0) ** epochs, 1.0)
    log["loss_validation"] = epochs + layers / 10
    log["clipped"], log["seconds"] = epochs / 10, 1.0
    if arm == "constrained":
        log["multiplier_mean"] = np.where(layers == of, np.repeat(multiplier, LAYERS + 1), 0.0)
        log["weight_mean"] = log["multiplier_mean"] + 1
        log["violation_validation"] = np.where((layers == 2) & (epochs % 2 == 0), 0.5, -0.1)
    log.to_csv(place / "history.csv", index=False)
    (place / "cell.json").write_text(
        json.dumps({"made_by": {"seconds": 12.0, "cells_in_stack": 3}, **SETTING} | more)
    )
    save_file({"a": torch.zeros(3, 4), "b": torch.zeros(5)}, place / "weights.safetensors")
    cell = CELL.__class__(**vars(CELL) | {"arm": arm})
    return pd.DataFrame(rows(Stored(place), cell, tolerance=0.02, values=PROBLEM, by_epoch=by_epoch))


def one(table: pd.DataFrame, metric: str) -> float:
    (value,) = table.loc[table["metric"] == metric, "value"]
    return value


def test_tail_statistics_are_those_of_the_last_quarter_of_the_epochs(tmp_path: Path) -> None:
    table = written(tmp_path / "cell", [9, 9, 9, 9, 9, 9, 1, 3])
    assert one(table, "oscillation") == pytest.approx(np.sqrt(2) / 5)  # of 4 and 6
    assert one(table, "multiplier_oscillation") == pytest.approx(np.sqrt(2) / 2)  # of 1 and 3
    assert table.query("metric == 'multiplier'").sort_values("layer")["value"].tolist() == [0, 2, 0]
    assert table.query("metric == 'weight'").sort_values("layer")["value"].tolist() == [1, 3, 1]
    assert one(table, "feasible_epochs") == pytest.approx(3 / 7), "of the epochs after the warm-up"
    assert (one(table, "seconds"), one(table, "parameters")) == (4.0, 17.0)
    assert one(table, "clipped") == pytest.approx(0.45)


def test_a_constraint_is_active_where_a_multiplier_is_above_zero_at_the_end(tmp_path: Path) -> None:
    assert one(written(tmp_path / "acts", [0, 0, 0, 0, 0, 0, 0, 1e-4]), "active") == 1
    assert one(written(tmp_path / "acted", [5, 5, 5, 5, 5, 5, 0, 0]), "active") == 0


def test_a_model_that_the_cap_alone_moves_is_not_held_to_descent(tmp_path: Path) -> None:
    assert (PROBLEM.cap_layer, LAYERS) == (1, 2)
    acts = [0, 0, 0, 0, 0, 0, 0, 1e-4]
    found = [written(tmp_path / f"{layer}", acts, of=layer) for layer in (1, 2)]
    assert [one(table, "active") for table in found] == [1, 1]
    assert [one(table, "descent_active") for table in found] == [0, 1]
    assert one(written(tmp_path / "acted", [5, 5, 5, 5, 5, 5, 0, 0], of=2), "descent_active") == 0


@pytest.mark.parametrize(
    ("resilience", "slack", "expected"),
    [("none", 0.0, (2 * 0.1 + 4 * 0.25) / 0.5), ("slacks", 0.25, (2 * 0.35 + 4 * 0.5) / 0.5)],
)
def test_slackness_is_what_multipliers_are_left_on_that_hold_to_spare(
    resilience: str, slack: float, expected: float
) -> None:
    """A cap met with a tenth of it to spare; f_1, asked to fall by a quarter, falls by a half."""
    changes = {"constraint": "ratio", "alpha": 0.2, "margin": 0.05, "R0": 1 / 0.95 * 10 / 9, "cap_layer": 0}
    problem = PROBLEM.model_copy(update=changes | {"resilience": resilience})
    epoch = pd.DataFrame({"loss_train": [1.0, 0.5], "multiplier_mean": [2.0, 4.0], "slack": slack})
    assert slackness(epoch, problem) == pytest.approx(expected)
    assert slackness(epoch.assign(multiplier_mean=[0.0, 0.0]), problem) == 0.0


def test_a_problem_of_logarithms_is_measured_by_itself_and_a_relaxed_one_by_what_relaxes_it() -> None:
    epoch = pd.DataFrame({"loss_train": [1.0, 0.5], "multiplier_mean": [0.0, 3.0], "slack": 0.0})
    plain = {"alpha": 0.2, "margin": 0.0, "R0": 2.0, "cap_layer": 0}
    logarithms = PROBLEM.model_copy(update=plain | {"constraint": "log"})
    assert slackness(epoch, logarithms) == pytest.approx(3 * abs(np.log(0.5 / 0.8)))
    decayed = PROBLEM.model_copy(update=plain | {"constraint": "difference", "resilience": "decay", "rho": 10.0})
    assert slackness(epoch, decayed) == pytest.approx(3 * abs((0.5 - 0.8) - 0.3) / 0.5)


def test_an_arm_that_enforces_nothing_has_no_word_on_it_and_epochs_are_kept_where_asked(tmp_path: Path) -> None:
    table = written(tmp_path / "free", [], arm="unconstrained")
    assert not set(table["metric"]) & {"active", "multiplier", "feasible_epochs", "multiplier_epoch", "slackness"}
    epochs = table.query("metric == 'loss_epoch'")
    assert len(epochs) == EPOCHS * (LAYERS + 1)
    assert epochs.query("bin == 3 and layer == 2")["value"].tolist() == [3.2]
    assert "loss_epoch" not in set(written(tmp_path / "other", [0.0] * 8, by_epoch=False)["metric"])


def test_an_epoch_in_which_a_violation_is_no_number_is_not_feasible(tmp_path: Path) -> None:
    written(tmp_path / "cell", [0.0] * EPOCHS)
    path = tmp_path / "cell" / "history.csv"
    log = pd.read_csv(path)
    log.loc[(log["epoch"] == 3) & (log["layer"] == 1), "violation_validation"] = np.nan
    log.to_csv(path, index=False)
    table = pd.DataFrame(rows(Stored(path.parent), CELL, tolerance=0.02, values=PROBLEM, by_epoch=False))
    assert one(table, "feasible_epochs") == pytest.approx(2 / 7)


def test_epochs_that_a_lost_cell_did_not_reach_are_not_feasible_and_not_active(tmp_path: Path) -> None:
    table = written(tmp_path / "cell", [0.0, *[1.0] * 7], of=2, epochs=2 * EPOCHS, epoch=3)
    assert one(table, "feasible_epochs") == pytest.approx(3 / 15)
    assert acted(Stored(tmp_path / "cell"))["active_epochs"] == 7 / 16
