"""A stage whose parameters or words are wrong ends with one message and no traceback, before it trains."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from descent.errors import UserError, run
from stages import train, train_studies
from tests.fakes.core import enter_project, environment, make_project, serially, write_params

BLURRED = {"video.evaluation.shifts": ["gaussian", "blur"], "shifts.blur": {"levels": [1.0, 30.0]}}


@pytest.mark.slow
def test_a_stage_ends_with_one_message_and_no_traceback(tmp_path: Path) -> None:
    write_params(make_project(tmp_path / "project"), {"eps": -1})
    command = [sys.executable, "-m", "stages.train", "video", "ucsd", "dust"]
    found = subprocess.run(command, cwd=tmp_path / "project", env=environment(), capture_output=True, text=True)
    assert found.returncode == 1 and "eps: Input should be greater than or equal to 0" in found.stderr
    assert "Traceback" not in found.stderr and "train.py" in found.stderr


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ({"eps": -1}, ("video", "ucsd", "dust"), "eps: Input should be greater than or equal to 0"),
        (BLURRED, ("video", "ucsd", "dust"), "shifts.blur is not right:\n  levels.1: "),
        (BLURRED | {"executor": "ray"}, ("video", "ucsd", "dust"), "shifts.blur is not right:\n  levels.1: "),
        ({}, ("video", "ucsd", "vti"), "video model: unknown name 'vti'; known:"),
        ({}, ("video", "ucsd", "roberta"), "roberta is a model of text, not of video"),
        ({}, ("video", "ped3", "dust"), "video data set: unknown name 'ped3'; known: avenue, shanghaitech, ucsd"),
        ({}, ("film", "ucsd", "dust"), "unknown"),
        ({}, ("video", "avenue", "dust"), "dvc repro --force preprocess_video@avenue"),
    ],
)
def test_what_is_wrong_ends_a_stage_with_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict, words: tuple[str, ...], told: str
) -> None:
    write_params(tmp_path, changes)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # a stage's answers to signals are not pytest's
    monkeypatch.setattr("descent.runner.executor.use", lambda _: None)  # nor is its executor that of other tests
    with pytest.raises(SystemExit) as ended:
        run(train.main, *words)
    assert told in ended.value.code and not Path("data/runs/video/ucsd/dust").exists()


def test_no_study_is_trained_where_a_shift_of_the_task_of_one_is_not_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path / "project", monkeypatch)
    trained = serially(monkeypatch)
    monkeypatch.setattr("descent.runner.executor.use", lambda _: None)
    write_params(Path(), BLURRED | {"studies": ["infeasible"]})
    with pytest.raises(UserError, match=r"shifts\.blur is not right"):
        train_studies.main()
    assert trained == []
    write_params(Path(), BLURRED | {"studies": ["infeasible"], "video.models": ["ut"]})
    train_studies.main()  # which are none, as their model is not in use
