"""The project in which these tests train, what was trained in it, and how long a cluster may take."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from descent.tasks.video.data import Prepared
from tests.fakes.core import enter_project, serially

LONGEST = 600  # seconds of a test; a host that froze is given up after a minute


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return enter_project(tmp_path / "project", monkeypatch)


@pytest.fixture
def project(prepared: Prepared, tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The stacks that were trained, by their cells' names."""
    return serially(monkeypatch)


@pytest.fixture
def bounded() -> Iterator[None]:
    """A cluster that waits for something for ever ends the test, and not the whole run."""

    def ended(number: int, frame: object) -> None:
        raise TimeoutError(f"the cluster took more than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
