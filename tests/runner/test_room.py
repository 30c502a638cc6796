"""What a stack asks of the hosts of a cluster, and how soon one is told that none has it any more."""

from types import SimpleNamespace

import pytest

from descent.errors import UserError
from descent.runner import room
from descent.runner.room import Room, fitting

GPU_HOST = {"Alive": True, "Resources": {"CPU": 4.0, "GPU": 1.0}}
CPU_HOST = {"Alive": True, "Resources": {"CPU": 2.0}}
NEEDS = [{"num_cpus": 0, "num_gpus": 0.5}, {"num_cpus": 2, "num_gpus": 0.0}]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that a test sets."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(room, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_a_stack_asks_for_what_some_host_has() -> None:
    hosts = [{"CPU": 1.0, "memory": 1e9}, {"CPU": 4.0, "GPU": 2.0}]
    assert fitting(hosts, 2, 0.0) == {"num_cpus": 2, "num_gpus": 0.0}
    assert fitting(hosts, 16, 0.0)["num_cpus"] == 4, "Ray would wait for sixteen cores for ever"
    assert fitting(hosts, 2, 0.33) == {"num_cpus": 0, "num_gpus": 0.33}
    for nodes, gpus, name in ((hosts[:1], 0.33, "GPU"), ([{}], 0.0, "CPU"), ([], 1.0, "GPU")):
        with pytest.raises(UserError, match=f"no host of the Ray cluster has a {name} to give: start one"):
            fitting(nodes, 2, gpus)


def asked_until(end: float, clock: SimpleNamespace, made: Room, needs: list[dict] = NEEDS) -> None:
    while clock.seconds < end:
        clock.seconds += 1
        made.ask(needs)


@pytest.mark.parametrize("left", [[CPU_HOST], [CPU_HOST, GPU_HOST | {"Alive": False}], []])
def test_a_cluster_that_lost_its_only_fitting_host_is_told_after_its_patience(
    left: list[dict], clock: SimpleNamespace
) -> None:
    hosts = [CPU_HOST, GPU_HOST]
    made = Room(SimpleNamespace(nodes=lambda: hosts))
    asked_until(1000, clock, made)
    hosts[:] = left
    asked_until(1000 + room.PATIENCE - room.OFTEN, clock, made)
    with pytest.raises(UserError, match=r"no host .* is left .* was finished is kept; .*`ray start`"):
        asked_until(1000 + room.PATIENCE + 2 * room.OFTEN, clock, made)


def test_a_host_that_comes_back_has_its_patience_again(clock: SimpleNamespace) -> None:
    hosts = [CPU_HOST]
    made = Room(SimpleNamespace(nodes=lambda: hosts))
    for end in (200, 480):
        asked_until(end, clock, made)
        hosts[:] = [GPU_HOST]
        asked_until(end + room.OFTEN, clock, made)
        hosts[:] = [CPU_HOST]
    asked_until(480 + room.PATIENCE - room.OFTEN, clock, made)


def test_stacks_that_need_less_go_on_without_it(clock: SimpleNamespace) -> None:
    made = Room(SimpleNamespace(nodes=lambda: [CPU_HOST]))
    asked_until(10 * room.PATIENCE, clock, made, NEEDS[1:])


def test_it_looks_no_more_often_than_it_is_due(clock: SimpleNamespace) -> None:
    made = Room(SimpleNamespace(nodes=lambda: pytest.fail("looked too soon")))
    clock.seconds = room.OFTEN / 2
    made.ask(NEEDS)
