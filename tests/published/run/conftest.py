"""Parameters, scores and the finished project of the run that these tests publish."""

import json
import shutil
import time
from pathlib import Path

import pandas as pd
import pytest

from descent import kept
from descent.analysis import results
from descent.cells import grid
from descent.config import Params
from stages import figures
from tests.fakes.results import fake_params, fake_results
from tests.fakes.runs import LITTLE, META, README, commit, write

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="package")
def params() -> Params:
    return fake_params(LITTLE)


@pytest.fixture(scope="package")
def made_up(params: Params) -> pd.DataFrame:
    rows = fake_results(params)
    return rows[rows["metric"].isin(results.METRICS)]


@pytest.fixture(scope="package")
def finished(params: Params, made_up: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a finished run of real data, trained after its protocol was committed."""
    root = tmp_path_factory.mktemp("finished")
    (root / "data").mkdir()
    shutil.copytree(ROOT / "data/paper", root / "data/paper")
    shutil.copy(ROOT / "requirements.txt", root)
    (root / "README.md").write_text(README)
    write(root / "data/evidence/PROTOCOL.md", "the rule\n")
    commit(root)
    write(root / "data/prepared/ucsd/meta.json", json.dumps(META))
    for model in params.video.models:
        for cell in grid(params, "video", "ucsd", model):
            made_by = {"finished": time.time() + 60, "seconds": 7.0, "cells_in_stack": 2, "device": "cpu (x)"}
            made_by |= {"torch": "2", "python": "3"}
            place = root / "data/runs/video/ucsd" / model / cell.name / "cell.json"
            write(place, json.dumps({"made_by": made_by, "fingerprint": f"{model} {cell.name}"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("descent.config.load", lambda *_: params)
        write(Path("data/params.json"), kept.of_results(params))
        results.write(made_up, Path("data/results.parquet"))
        figures.main("video", "fig03_depth", "table3_video_rmse")
    return root


@pytest.fixture
def project(finished: Path, params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to spoil, as the working folder."""
    root = tmp_path / "project"
    shutil.copytree(finished, root)
    monkeypatch.chdir(root)
    monkeypatch.setattr("descent.config.load", lambda *_: params)
    return root
