"""The tables of steps within bounds: which cells are laid beside which, and by how much they err less."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis.wording import UNKNOWN
from descent.components import TRAINED
from descent.published import bounded_steps
from tests.fakes.evidence import ARMS, Made, real_params
from tests.fakes.parts import published
from tests.fakes.results import change

SEEDS, EPS, GAIN, COST = 6, 0.13, 0.02, 0.03
OUT, INSIDE = 0.1 + 0.01 * np.arange(SEEDS), -0.05 + 0.02 * np.arange(SEEDS)
MODELS = ("dust_shared", "dust_per_layer")  # one kin; the second has the bounded steps here
STEP = {"video.models": list(MODELS), "models.dust_per_layer.step": "current"}
STEP |= {"models.dust_shared.dictionaries": "per_layer"}
BUDGET = "profiles.demo.video.models.dust_per_layer"
BOUNDED = {"experiment": "video", "model": MODELS[1]}


def made(models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """Constraints gain GAIN out of distribution and cost COST; bounded steps gain OUT and INSIDE, by seed. At the
    level of training, which is measured beside the swept ones, they err absurdly."""
    rows = Made(SEEDS).video(GAIN, COST, models, ("ucsd",), (7,)).table()
    tested = rows[(rows["model"] == MODELS[1]) & (rows["metric"] == "rmse") & (rows["shift"] == TRAINED)]
    gains = np.where(tested["gamma"] > EPS + 1e-9, OUT[tested["seed"]], INSIDE[tested["seed"]])
    gains = np.where(np.isclose(tested["gamma"], EPS), -9.0, gains)
    rows.loc[tested.index, "value"] *= np.exp(-gains)
    return rows


def told(*folders: Path) -> list[list[list[str]]]:
    """The cells of the rows of both tables."""
    found = bounded_steps.tables(folders, real_params()).split("\n\n")
    return [
        [[word.strip() for word in line.strip("|").split(" | ")] for line in table.split("\n")[2:]]
        for table in found
    ]


def interval(gains: np.ndarray) -> str:
    low, high = stats.t.interval(0.95, len(gains) - 1, gains.mean(), stats.sem(gains))
    return f"{100 * gains.mean():+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def row_of(table: list[list[str]], arm: str) -> list[str]:
    [row] = [row for row in table if arm in row]
    return row


def test_gains_are_of_pairs_of_one_seed_with_students_interval(tmp_path: Path) -> None:
    rows = made()
    change(rows, 0.008, **BOUNDED, metric="lr")
    across, on_top = told(published(rows, tmp_path / "small-00000001", STEP))
    run = "[small-00000001](small-00000001/REPORT.md)"
    setting = [run, "DUST, a dictionary a layer", "160 x 160", "UCSD", "7", "0.13"]
    for arm in ARMS:
        *shape, epochs, _, rates, out, inside, pairs, lost = row_of(across, arm)
        assert shape == setting and int(epochs) > 1 and rates == "0.008 / 0.001"
        assert (out, inside, pairs, lost) == (interval(OUT), interval(INSIDE), "6", "0 / 0 of 6")
    [[*shape, _, rates, out, inside, pairs, lost]] = on_top
    assert shape == setting and rates == "0.008 / 0.008" and (pairs, lost) == ("6", "0 / 0 of 6")
    assert out.startswith("+2.0 (") and inside.startswith("-3.0 (")


def test_the_two_kinds_of_step_may_lie_in_two_parts(tmp_path: Path) -> None:
    folders = [published(made((model,)), tmp_path / f"small-0000000{n}", STEP) for n, model in enumerate(MODELS)]
    across, _ = told(*folders)
    run, *_, out, _, _, _ = row_of(across, "constrained")
    assert run.startswith("[small-00000001](") and " / [small-00000000](" in run and out == interval(OUT)


def test_a_lost_cell_leaves_its_pairs_out_and_is_counted(tmp_path: Path) -> None:
    rows = made()
    change(rows, 1.0, **BOUNDED, arm="unconstrained", seed=0, metric="diverged")
    across, on_top = told(published(rows, tmp_path / "small-00000001", STEP))
    assert row_of(across, "constrained")[-2:] == ["6", "0 / 0 of 6"]
    *_, out, _, pairs, lost = row_of(across, "unconstrained")
    assert (out, pairs, lost) == (interval(OUT[1:]), "5", "1 / 0 of 6")
    assert on_top[0][-2:] == ["5", "0 / 1 of 6"]
    for seed in range(1, SEEDS - 1):
        change(rows, 1.0, **BOUNDED, arm="unconstrained", seed=seed, metric="diverged")
    across, _ = told(published(rows, tmp_path / "small-00000002", STEP))
    assert row_of(across, "unconstrained")[-4:] == [UNKNOWN, UNKNOWN, "1", "5 / 0 of 6"]


@pytest.mark.parametrize(
    "other",
    [
        {BUDGET: {"epochs": 99}},
        {BUDGET: {"tokens": 3}},
        {"models.dust_per_layer.kappa": 0.5},
        {"video.evaluation.noise_draws": 7},
        {"training.precision": "bf16"},
    ],
    ids=str,
)
def test_cells_that_differ_in_more_than_the_step_are_no_pair(tmp_path: Path, other: dict[str, object]) -> None:
    folders = [
        published(made((model,)), tmp_path / f"small-0000000{n}", STEP | (other if n else {}))
        for n, model in enumerate(MODELS)
    ]
    [on_top] = told(*folders)
    assert len(on_top) == 1, "constraints on top of bounded steps, and no other comparison"


def test_neither_are_models_of_unlike_size_nor_arms_with_another_solver(tmp_path: Path) -> None:
    rows = made()
    change(rows, 99.0, **BOUNDED, metric="parameters")
    assert len(told(published(rows, tmp_path / "small-00000001", STEP))) == 1
    solver = {BUDGET: {"arms": {"constrained": {"margin": 0.1}}}}
    across, _ = told(published(made(), tmp_path / "small-00000002", STEP | solver))
    assert "unconstrained" in across[0] and len(across) == 1


def test_of_cells_that_lack_a_level_nothing_is_told(tmp_path: Path) -> None:
    rows = made()
    gone = (rows["model"] == MODELS[1]) & (rows["metric"] == "rmse") & np.isclose(rows["gamma"], 0.6)
    folder = published(rows[~gone], tmp_path / "small-00000001", STEP)
    assert bounded_steps.tables([folder], real_params()) == ""


def test_without_bounded_steps_nothing_is_told(tmp_path: Path) -> None:
    folder = published(made(MODELS[:1]), tmp_path / "small-00000001", STEP)
    assert bounded_steps.tables([folder], real_params()) == ""
    (folder / "scores.csv").unlink()
    assert bounded_steps.tables([folder], real_params()) == "", "a part of before there were scores"
