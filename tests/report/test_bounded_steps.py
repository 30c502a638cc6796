"""The tables of steps within bounds: which cells are laid beside which, and by how much they err less."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis.wording import UNKNOWN
from descent.components import TRAINED
from descent.report import bounded_steps
from tests.fakes.evidence import Made, real_params
from tests.fakes.parts import published
from tests.fakes.results import change

SEEDS, EPS, GAIN, COST = 6, 0.13, 0.02, 0.03
OUT, INSIDE = 0.1 + 0.01 * np.arange(SEEDS), -0.05 + 0.02 * np.arange(SEEDS)
MODELS = ("dust_shared", "dust_per_layer")  # one kin; the second has the bounded steps here
STEP = {"video.models": list(MODELS), "models.dust_per_layer.step": "current"}
BOUNDED = {"experiment": "video", "model": MODELS[1]}


def made(models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """Constraints gain GAIN out of distribution and cost COST; bounded steps gain OUT and INSIDE, by seed."""
    rows = Made(SEEDS).video(GAIN, COST, models, ("ucsd",), (7,)).table()
    tested = rows[(rows["model"] == MODELS[1]) & (rows["metric"] == "rmse") & (rows["shift"] == TRAINED)]
    gains = np.where(tested["gamma"] > EPS + 1e-9, OUT[tested["seed"]], INSIDE[tested["seed"]])
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


def test_gains_are_of_pairs_of_one_seed_with_students_interval(tmp_path: Path) -> None:
    rows = made()
    change(rows, 0.008, **BOUNDED, metric="lr")
    across, on_top = told(published(rows, tmp_path / "small-00000001", STEP))
    run = f"[small-00000001]({tmp_path}/small-00000001/REPORT.md)"
    assert [row[:8] for row in across] == [
        [run, "DUST, a dictionary a layer", "160 px", "UCSD", "7", "5", arm, "0.008 / 0.001"]
        for arm in ("constrained", "unconstrained")
    ]
    assert {tuple(row[8:]) for row in across} == {(interval(OUT), interval(INSIDE), str(SEEDS))}
    [own] = on_top
    assert own[:7] == [run, "DUST, a dictionary a layer", "160 px", "UCSD", "7", "5", "0.008 / 0.008"]
    assert own[7].startswith("+2.0 (") and own[8].startswith("-3.0 (") and own[9] == str(SEEDS)


def test_the_two_kinds_of_step_may_lie_in_two_parts(tmp_path: Path) -> None:
    folders = [published(made((model,)), tmp_path / f"small-0000000{n}", STEP) for n, model in enumerate(MODELS)]
    across, _ = told(*folders)
    assert across[0][0].startswith("[small-00000001](") and " / [small-00000000](" in across[0][0]
    assert across[0][8] == interval(OUT)


def test_a_lost_cell_leaves_its_pairs_out(tmp_path: Path) -> None:
    rows = made()
    change(rows, 1.0, **BOUNDED, arm="unconstrained", seed=0, metric="diverged")
    across, on_top = told(published(rows, tmp_path / "small-00000001", STEP))
    assert [row[10] for row in across] == [str(SEEDS), str(SEEDS - 1)] and on_top[0][9] == str(SEEDS - 1)
    assert across[1][8] == interval(OUT[1:])
    for seed in range(1, SEEDS - 1):
        change(rows, 1.0, **BOUNDED, arm="unconstrained", seed=seed, metric="diverged")
    across, _ = told(published(rows, tmp_path / "small-00000002", STEP))
    assert across[1][8:] == [UNKNOWN, UNKNOWN, "1"]


@pytest.mark.parametrize(
    ("changed", "value"), [("epoch", 6.0), ("parameters", 99.0)], ids=["trained for longer", "of another capacity"]
)
def test_cells_that_differ_in_more_than_the_step_are_no_pair(tmp_path: Path, changed: str, value: float) -> None:
    rows = made()
    change(rows, value, **BOUNDED, metric=changed)
    [on_top] = told(published(rows, tmp_path / "small-00000001", STEP))
    assert on_top[0][6] == "0.001 / 0.001", "constraints on top of bounded steps, and no other comparison"


def test_without_bounded_steps_nothing_is_told(tmp_path: Path) -> None:
    rows = made(MODELS[:1])
    folder = published(rows, tmp_path / "small-00000001", STEP)
    assert bounded_steps.tables([folder], real_params()) == ""
    (folder / "scores.csv").unlink()
    assert bounded_steps.tables([folder], real_params()) == "", "a part of before there were scores"
