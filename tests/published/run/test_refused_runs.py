"""Runs of which no evidence is published: each is refused in one sentence, and nothing is written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from descent.errors import UserError
from descent.published import run_folder
from stages import evidence as stage
from tests.fakes.results import fake_params
from tests.fakes.runs import LITTLE, META, README, write


def one_cell() -> Path:
    return sorted(Path("data/runs").rglob("cell.json"))[0]


def without(made_by: str) -> None:
    path = one_cell()
    record = json.loads(path.read_text())
    del record["made_by"][made_by]
    path.write_text(json.dumps(record))


def older() -> None:
    record = json.loads(one_cell().read_text())
    record["made_by"]["finished"] = run_folder.committed(run_folder.PROTOCOL) + 6.0  # training took 7 seconds
    one_cell().write_text(json.dumps(record))


def resumed() -> None:
    """Begun before the protocol, interrupted, and gone on with after it."""
    record = json.loads(one_cell().read_text())
    record["made_by"]["began"] = run_folder.committed(run_folder.PROTOCOL) - 1
    one_cell().write_text(json.dumps(record))


def of_other_parameters() -> None:
    values = json.loads(Path("data/params.json").read_text())
    Path("data/params.json").write_text(json.dumps(values | {"eps": 0.15}))


def lacking_scores() -> None:
    rows = pd.read_parquet("data/results.parquet")
    rows[rows["layers"] != 3].to_parquet("data/results.parquet")


def synthetic() -> None:
    write(Path("data/prepared/ucsd/meta.json"), json.dumps(META | {"synthetic": True}))


def append(path: Path) -> Callable[[], None]:
    return lambda: path.write_bytes(path.read_bytes() + b"more")


def gone(path: Path) -> Callable[[], None]:
    return path.unlink


SPOILT = {
    "other parameters": (of_other_parameters, "not of this params.yaml"),
    "scores missing": (lacking_scores, "the scores of .* cells are missing"),
    "cell missing": (lambda: one_cell().unlink(), "is missing, so the run is not finished"),
    "data missing": (gone(Path("data/prepared/ucsd/meta.json")), "is missing, so the run is not finished"),
    "synthetic data": (synthetic, "holds generated ones"),
    "no protocol": (gone(run_folder.PROTOCOL), "PROTOCOL.md is missing"),
    "changed protocol": (append(run_folder.PROTOCOL), "not committed as it stands"),
    "never committed": (lambda: shutil.rmtree(".git"), "git cannot say|not committed"),
    "protocol newer": (older, r"data/runs/video/ucsd/\w+/[\w.-]+ was trained before the last commit"),
    "protocol newer than what was resumed": (resumed, "was trained before the last commit"),
    "no time": (lambda: without("finished"), "does not say when it was trained"),
    "another figure": (append(Path("figures/video/fig03_depth.png")), "is not that of this run"),
    "no figure": (lambda: shutil.rmtree("data/shown"), "holds no figure"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_run_is_refused_in_one_sentence_and_writes_nothing(case: str, project: Path) -> None:
    spoil, told = SPOILT[case]
    spoil()
    with pytest.raises(UserError, match=told) as error:
        stage.main()
    assert "\n" not in str(error.value)
    assert not [path for path in Path("data/evidence").iterdir() if path.is_dir()]
    assert Path("README.md").read_text() == README


def test_generated_data_are_no_evidence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = fake_params()
    monkeypatch.setattr("descent.config.load", lambda *_: demo)
    with pytest.raises(UserError, match="evidence is of real data, and profile demo generates"):
        stage.main()


def test_weights_chosen_by_another_rule_are_no_evidence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    best = fake_params(LITTLE | {"video.selection": "best"})
    monkeypatch.setattr("descent.config.load", lambda *_: best)
    with pytest.raises(UserError, match=r"set video\.selection: final and run"):
        stage.main()


def test_without_git_nothing_says_how_old_the_protocol_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="git is not there"):
        stage.main()
