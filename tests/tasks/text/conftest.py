"""The project in which these tests train and evaluate."""

from pathlib import Path

import pytest

from descent.tasks.text.data import Tokens
from tests.fakes.core import serially
from tests.fakes.text import enter_text_project


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    serially(monkeypatch)
    return enter_text_project(tmp_path / "project", monkeypatch)
