"""The project in which these tests train and evaluate."""

from pathlib import Path

import pytest

from descent.tasks.video.data import Prepared
from tests.fakes.core import enter_project, serially


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    serially(monkeypatch)
    return enter_project(tmp_path / "project", monkeypatch)
