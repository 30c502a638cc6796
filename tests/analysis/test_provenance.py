"""What made the results is told by the cells and by git, and shared cells count once."""

import json
import subprocess
from pathlib import Path

import pytest

from descent import paths
from descent.analysis import provenance
from tests.fakes.results import fake_params


def write_cell(place: Path, fingerprint: str, seconds: float, stack: int, device: str, finished: int) -> None:
    made_by = {"seconds": seconds, "cells_in_stack": stack, "device": device, "torch": "9.1", "finished": finished}
    place.mkdir(parents=True)
    (place / "cell.json").write_text(json.dumps({"fingerprint": fingerprint, "made_by": made_by}))


def test_cells_tell_devices_days_and_seconds_and_shared_ones_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "RUNS", tmp_path)
    params = fake_params({"video.datasets": ["ucsd"], "studies": ["alpha"]})
    assert provenance.of_cells(params)["cells"] == 0
    write_cell(tmp_path / "video/ucsd/ut/a", "one", 12.0, 3, "cpu (x)", 0)
    write_cell(tmp_path / "text/imdb/ut_text/b", "two", 5.0, 1, "cuda (y)", 86400 * 31)
    write_cell(tmp_path / "study/alpha/a", "one", 12.0, 3, "cpu (x)", 0)
    write_cell(tmp_path / "study/alpha/c", "three", 7.0, 2, "cpu (x)", 86400)
    for no_longer in ("video/avenue/ut", "video/ucsd/unknown", "study/dual_lr"):
        write_cell(tmp_path / no_longer / "d", no_longer, 9.0, 1, "cuda (z)", 86400 * 99)
    assert provenance.of_cells(params) == {
        "cells": 3,
        "device": "cpu (x), cuda (y)",
        "torch": "9.1",
        "finished": "1970-02-01",
        "seconds": {"video": 4.0, "text": 5.0, "study": 3.5},
    }


def test_the_commit_is_gits_and_marked_where_the_code_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        provenance.of_code.cache_clear()
        return provenance.of_code()["commit"]

    def git(*words: str) -> None:
        subprocess.run(("git", "-c", "user.name=a", "-c", "user.email=b", *words), check=True, capture_output=True)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert told() == "unknown (no git checkout)"
    (tmp_path / "src").mkdir()
    for name in ("src/code.py", "dvc.lock"):
        (tmp_path / name).write_text("1")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    clean = told()
    assert len(clean) == 12 and set(clean) <= set("0123456789abcdef")
    (tmp_path / "dvc.lock").write_text("2")
    assert told() == clean, "what a run writes is no change of the code"
    (tmp_path / "src/code.py").write_text("2")
    assert told() == f"{clean} with changes"
    provenance.of_code.cache_clear()
