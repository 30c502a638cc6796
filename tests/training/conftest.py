"""The prepared data set on which these tests train."""

from pathlib import Path

import pytest

from descent.tasks.video.data import Prepared
from tests.fakes.core import write_prepared


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return write_prepared(tmp_path / "ucsd")
