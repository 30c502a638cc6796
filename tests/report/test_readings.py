"""The table of other readings: each beside plain training of the same one, and nothing where a cell is lost."""

import json
from pathlib import Path

import pandas as pd
import pytest

from descent.report import readings
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
    return tmp_path


def test_each_reading_has_a_row_with_its_gain_over_plain_training_of_its_own(folder: Path) -> None:
    _, _, *rows = readings.table([folder], fake_params()).splitlines()
    link = f"[{folder.name}]({folder.name}/REPORT.md)"
    assert rows == [
        f"| {link} | UT | UCSD | 7 | as it is | -3.0 (-4.0 to -2.0) | -3.0 (-4.0 to -2.0) | 6 of 6 | 0 / 0 of 6 |",
        f"| {link} | UT | UCSD | 7 | longer | +2.0 (+1.0 to +3.0) | +2.0 (+1.0 to +3.0) | 3 of 6 | 0 / 0 of 6 |",
        f"| {link} | UT | UCSD | 7 | shorter | – | – | 6 of 6 | 0 / 1 of 6 |",  # noqa: RUF001
    ]


def test_parts_without_such_a_study_have_no_table(folder: Path) -> None:
    values = json.loads((folder / "params.yaml").read_text()) | {"studies": []}
    (folder / "params.yaml").write_text(json.dumps(values))
    assert readings.table([folder], fake_params()) == ""
