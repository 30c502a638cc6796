"""Ray beside the pool, both made up: on as many cores as the nodes have, and skipped in a line without Ray."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from descent.runner.executor import Way
from tests.bench import cluster


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What is recorded; nothing is trained, and this process keeps its cores and its environment."""
    found: list[tuple] = []
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("DVC_ROOT", "elsewhere")
    monkeypatch.setattr(cluster, "record", lambda *row: found.append(row))
    return found


def test_without_ray_a_line_says_so_and_nothing_is_trained(
    rows: list[tuple], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    monkeypatch.setattr(cluster, "seconds", lambda way: pytest.fail("trained"))
    cluster.main()
    assert rows == [] and os.environ["PYTHONPATH"] == "src"
    said = capsys.readouterr().out
    assert "skipped, Ray is not installed (pip install -r requirements-ray.txt)" in said and said.count("\n") == 1


def test_with_ray_both_have_as_many_cores_as_the_nodes(rows: list[tuple], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    @contextmanager
    def made_up() -> Iterator[str]:
        yield "host:1"

    def seconds(way: Way) -> float:
        done.append(way.engine)
        return {"local": 60.0, "ray": 66.0}[way.engine]

    monkeypatch.setattr(cluster, "find_spec", lambda name: name)
    monkeypatch.setattr(cluster, "cluster", made_up)
    monkeypatch.setattr(cluster, "seconds", seconds)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {7, 3, 5, 1}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: done.append(cores), raising=False)
    cluster.main()
    assert done == [[1, 3], "local", "ray"]
    assert [(row[0], row[2]) for row in rows] == [("Ray / the pool", pytest.approx(1.1))]
