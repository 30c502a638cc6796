"""The table of what was trained at the paper's size: which parts, which seeds, which numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import effects
from descent.analysis.select import select
from descent.analysis.verdicts import LEVEL, Estimate
from descent.analysis.wording import UNKNOWN
from descent.published import paper_size
from tests.fakes.evidence import Made, real_params
from tests.fakes.parts import published
from tests.fakes.results import change

AS_LARGE = {"video.frame.size": 160, "video.frame.patch": 16}
AS_LARGE |= {f"profiles.demo.video.models.{model}.atoms": 1024 for model in ("ut", "dust")}
DUST = {"experiment": "video", "model": "dust"}


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    made = Made(6, noise=0.01).video(gain=0.02, cost=0.03, datasets=("ucsd",), models=("ut",), layers=(7,))
    unlike = {"gain": 0.2, "cost": -0.1, "parameters": (400, 100)}
    return made.video(datasets=("ucsd",), models=("dust",), layers=(7,), **unlike).table()


def cells_of(folders: list[Path]) -> list[list[str]]:
    _, _, *lines = paper_size.table(folders, real_params()).splitlines()
    return [[word.strip() for word in line.strip("|").split(" | ")] for line in lines]


def test_a_row_has_the_gain_of_the_scorecard_the_rates_and_the_capacity(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    changed = rows.copy()
    change(changed, 0.004, **DUST, arm="unconstrained", metric="lr")
    [ut, dust] = cells_of([published(changed, tmp_path / "small-00000001", AS_LARGE)])
    assert ut[0] == "[small-00000001](small-00000001/REPORT.md)"
    assert ut[1:4] == ["UT, L = 7, UCSD", "as many weights", "0.001 / 0.001"]
    assert dust[1:4] == ["DUST, L = 7, UCSD", "25 % of the weights", "0.001 / 0.004"]
    assert ut[6:] == dust[6:] == ["6", "0 / 0 of 6"]
    pairs = effects.pairs(changed, real_params())
    for row, claim, sign in ((ut, "video_ood", 1), (ut, "video_cost", -1), (dust, "video_ood_paper", 1)):
        own = select(pairs, claim=claim).pivot(index="seed", columns="resample", values="effect").to_numpy()
        found = Estimate.of(sign * own, 40)
        low, high = found.interval(LEVEL)
        expected = f"{100 * found.value:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
        assert row[4 if claim.startswith("video_ood") else 5] == expected


def test_a_lost_cell_leaves_its_pair_out_and_is_counted(rows: pd.DataFrame, tmp_path: Path) -> None:
    lost = rows.copy()
    change(lost, 1.0, **DUST, arm="unconstrained", seed=0, metric="diverged")
    change(lost, 1.0, **DUST, arm="constrained", seed=1, metric="diverged")
    [ut, dust] = cells_of([published(lost, tmp_path / "small-00000001", AS_LARGE)])
    assert ut[7] == "0 / 0 of 6" and dust[6:] == ["4", "1 / 1 of 6"]
    of = select(effects.pairs(rows, real_params()), claim="video_ood_paper", resample=0).set_index("seed")[
        "effect"
    ]
    assert dust[4].startswith(f"{100 * of.drop([0, 1]).mean():+.1f} (")
    for seed in range(2, 6):
        change(lost, 1.0, **DUST, arm="unconstrained", seed=seed, metric="diverged")
    [_, dust] = cells_of([published(lost, tmp_path / "small-00000002", AS_LARGE)])
    assert dust[4:] == [UNKNOWN, UNKNOWN, "0", "1 / 5 of 6"]


@pytest.mark.parametrize(
    "less",
    [{"video.frame.size": 80}, {"video.frame.patch": 8}, {"profiles.demo.video.models.dust.atoms": 576}],
)
def test_smaller_parts_are_left_out(rows: pd.DataFrame, tmp_path: Path, less: dict) -> None:
    folder = published(rows, tmp_path / "small-00000001", AS_LARGE | less)
    names = [row[1] for row in cells_of([folder])] if paper_size.table([folder], real_params()) else []
    assert names == (["UT, L = 7, UCSD"] if "profiles.demo.video.models.dust.atoms" in less else [])


def test_of_two_pairs_no_interval_is_told(rows: pd.DataFrame, tmp_path: Path) -> None:
    lost = rows.copy()
    for seed in range(4):
        change(lost, 1.0, **DUST, arm="unconstrained", seed=seed, metric="diverged")
    [_, dust] = cells_of([published(lost, tmp_path / "small-00000001", AS_LARGE)])
    assert "(" not in dust[4] and np.isclose(float(dust[4]), 20, atol=3)
    change(lost, 1.0, **DUST, arm="unconstrained", seed=4, metric="diverged")
    [_, dust] = cells_of([published(lost, tmp_path / "small-00000002", AS_LARGE)])
    assert dust[4:7] == [UNKNOWN, UNKNOWN, "1"], "one pair tells nothing"


def test_a_model_that_is_like_another_has_its_atoms(tmp_path: Path) -> None:
    """`dust_shared` has none of its own in the profile."""
    made = Made(6).video(datasets=("ucsd",), models=("dust_shared",), layers=(7,)).table()
    [row] = cells_of([published(made, tmp_path / "small-00000001", AS_LARGE)])
    assert row[1] == "DUST, one dictionary, L = 7, UCSD"
