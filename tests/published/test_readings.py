"""The table of other readings: each beside plain training of the same one, and nothing where a cell is lost."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.published import readings
from tests.fakes.results import fake_params

NAME = "controls_readings_ut"
STUDY = {
    "task": "video",
    "dataset": "ucsd",
    "model": "ut",
    "layers": 7,
    "eps": 0.13,
    "arm": "constrained",
    "beside": ["unconstrained"],
    "vary": None,
    "overrides": {},
    "named": {"as it is": {}, "longer": {"model": {"step_scale": 1.0}}, "shorter": {"model": {"step_scale": 3.0}}},
}


SEEDS, EPS = 6, 0.13
FIRST = 0.01 * np.arange(SEEDS)
OUT = {
    ("unconstrained", ""): FIRST,
    ("unconstrained", "longer"): FIRST + 0.05,
    ("constrained", "as it is"): FIRST - 0.03,
    ("constrained", "longer"): 2 * FIRST,
    ("constrained", "shorter"): FIRST,
}


def row(arm: str, varied: str, gain: float = 0.0, lost: int = 0, feasible: float = 1.0) -> dict[str, object]:
    said = {"study": NAME, "arm": arm, "varied": varied, "trained": 6, "lost": lost, "feasible": feasible}
    for name in ("gain_out", "gain_in"):
        said |= {name: gain, f"{name}_low": gain - 0.01, f"{name}_high": gain + 0.01, f"{name}_seeds": 6}
    return said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    params = fake_params(
        {f"study.{NAME}": STUDY, f"profiles.demo.studies.{NAME}": {"seeds": [0]}, "studies": [NAME]}
    )
    values = params.model_dump(mode="json")
    del values["components"]
    (tmp_path / "params.yaml").write_text(json.dumps(values))
    rows = [row("unconstrained", ""), row("unconstrained", "longer"), row("unconstrained", "shorter", lost=1)]
    rows += [row("constrained", "as it is", -0.03), row("constrained", "longer", 0.02, feasible=0.5)]
    rows += [row("constrained", "shorter", 2.0)]
    pd.DataFrame(rows).to_csv(tmp_path / "controls.csv", index=False)
    scores(params).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def scores(params: Params) -> pd.DataFrame:
    """Cells whose errors out of distribution are exp(-OUT), in it all alike."""
    cell = {"experiment": NAME, "dataset": "ucsd", "model": "ut", "layers": 7, "eps": EPS, "layer": 7}
    levels = [(gamma, gamma > EPS) for gamma in params.video.evaluation.gammas]
    return pd.DataFrame(
        [
            cell
            | {"arm": arm, "varied": varied, "seed": seed, "gamma": gamma, "metric": "rmse"}
            | {"value": np.exp(-own[seed]) if out else 1.0}
            for (arm, varied), own in OUT.items()
            for seed in range(SEEDS)
            for gamma, out in levels
        ]
    )


def test_each_reading_has_a_row_with_its_gain_over_plain_training_of_its_own(folder: Path) -> None:
    _, _, *rows = readings.table([folder], fake_params()).splitlines()
    none = f"{UNKNOWN} | {UNKNOWN} |"
    same = "+0.0 (+0.0 to +0.0)"
    gained = FIRST + 0.03  # constrained, by seed
    low, high = stats.ttest_1samp(gained, 0).confidence_interval(0.95)
    ours = f"{100 * gained.mean():+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
    longer = f"{ours} / {same} | +5.0 (+5.0 to +5.0) / {same} |"
    shorter = f"+3.0 (+3.0 to +3.0) / {same} | {UNKNOWN} |"  # plain training of it has a lost cell
    start = f"| [{folder.name}]({folder.name}/REPORT.md) | UT | UCSD | 7"
    assert rows == [
        f"{start} | as it is | -3.0 (-4.0 to -2.0) | -3.0 (-4.0 to -2.0) | 6 of 6 | 0 / 0 of 6 | {none}",
        f"{start} | longer | +2.0 (+1.0 to +3.0) | +2.0 (+1.0 to +3.0) | 3 of 6 | 0 / 0 of 6 | {longer}",
        f"{start} | shorter | {UNKNOWN} | {UNKNOWN} | 6 of 6 | 0 / 1 of 6 | {shorter}",
    ]


def test_a_part_without_scores_says_nothing_of_one_reading_over_another(folder: Path) -> None:
    (folder / "scores.csv").unlink()
    _, _, *rows = readings.table([folder], fake_params()).splitlines()
    assert len(rows) == 3 and all(row.endswith(f"6 | {UNKNOWN} | {UNKNOWN} |") for row in rows)


def test_parts_without_such_a_study_have_no_table(folder: Path) -> None:
    values = json.loads((folder / "params.yaml").read_text()) | {"studies": []}
    (folder / "params.yaml").write_text(json.dumps(values))
    assert readings.table([folder], fake_params()) == ""


def test_a_study_whose_model_is_not_in_use_has_no_row(folder: Path) -> None:
    values = json.loads((folder / "params.yaml").read_text())
    values["video"]["models"] = ["dust"]
    (folder / "params.yaml").write_text(json.dumps(values))
    pd.read_csv(folder / "controls.csv").iloc[:0].to_csv(folder / "controls.csv", index=False)
    assert readings.table([folder], fake_params()) == ""
