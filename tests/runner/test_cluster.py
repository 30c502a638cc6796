"""Stacks on a Ray cluster of a head and two nodes on this host: the pool's bytes, also when a worker is killed."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from descent import interruption
from descent.errors import UserError
from descent.runner import cluster, executor, items, store
from descent.runner.executor import Way, jobs, run_all
from descent.runner.schema import Ray
from tests.fakes.cluster import clustered, told_to_the_head
from tests.fakes.core import DATASET, ROOT, enter_project, item_of, small_params
from tests.fakes.stacks import CPU, STACKS

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # the library's own
    pytest.mark.usefixtures("bounded"),
]

WORDS = ("video", DATASET, "dust")
DRIVER = """import sys
from descent import errors
from descent.runner import executor, items
from descent.runner.schema import Ray
from tests.fakes.core import item_of, small_params
from tests.runner.test_cluster import WORDS, lasting

def main(address: str, epochs: str) -> None:
    executor._way = executor.Way("ray", ray=Ray(address=address))
    items.train('cells', [item_of(small_params(lasting(int(epochs))), *WORDS)])

errors.run(main, *sys.argv[1:])
"""


def lasting(epochs: int) -> dict[str, Any]:
    """Values with which two cells take so many epochs, 60 of them some seconds."""
    return {
        "profiles.demo.video": {"epochs": epochs, "layers": [2], "eps": []},
        "training.checkpoint_seconds": 0.0,
    }


EPOCHS = lasting(60)


def test_progress_of_a_stack_that_began_again_counts_once() -> None:
    tally = cluster.Tally()
    for number, done in ((0, 3), (1, 2), (0, 5), (1, 1)):
        tally.tell(number, done)
    assert tally.total() == (5 + 2, 0)
    tally.tell(2, 10, 9)  # an earlier run had done nine,
    tally.tell(2, 12, 11)  # and another worker took it up at eleven, two of which are this run's
    assert tally.total() == (5 + 2 + 3, 9)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Two nodes, for most tests."""
    made = clustered(2, **told_to_the_head())
    yield made
    made.shutdown()


@pytest.fixture
def on_nodes(nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks go to them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(executor, "_way", Way("ray", ray=Ray(address=nodes.address)))


@pytest.fixture
def expected(nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the pool trains in a project of its own; from here on the cluster trains, from an empty store."""
    enter_project(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    item = item_of(small_params(EPOCHS), *WORDS)
    items.train(item.name, [item])
    (tmp_path / ".cells").rename(tmp_path / "of the pool")
    monkeypatch.setattr(executor, "_way", Way("ray", ray=Ray(address=nodes.address)))
    return digests(item.runs)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["worker", "node"])
def test_a_cluster_trains_the_pools_bytes_though_one_of_it_is_lost(
    lost: str, nodes: Any, expected: dict[str, str]
) -> None:
    item, gone = item_of(small_params(EPOCHS), *WORDS), []
    lose = {"worker": kill_a_worker, "node": partial(kill_a_node, nodes)}[lost]
    killer = threading.Thread(target=lose, args=(gone,), daemon=True)
    killer.start()
    items.train(item.name, [item])
    killer.join(timeout=30)
    if lost == "node":
        nodes.add_node(num_cpus=1, **nodes.small)
    assert gone, f"no {lost} was found in the middle of its work"
    assert digests(item.runs) == expected
    assert not [*store.root().glob("stacks/*")] and not [*store.root().glob(".seen-*")]


@pytest.mark.slow
def test_the_pool_goes_on_where_a_driver_of_the_cluster_was_killed(
    nodes: Any, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'src'}")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, nodes.address, "60"], start_new_session=True)
    wait_for_a_checkpoint()
    driver.kill()
    driver.wait()
    monkeypatch.setattr(executor, "_way", Way())
    item = item_of(small_params(EPOCHS), *WORDS)
    items.train(item.name, [item])
    assert digests(item.runs) == expected


@pytest.mark.slow
def test_a_driver_that_is_told_to_end_says_so_as_without_a_cluster(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    with driving(nodes.address, monkeypatch) as driver:
        driver.terminate()
        told = driver.communicate(timeout=60)[1].strip().splitlines()
    assert driver.returncode == 130 and told[-1] == interruption.TOLD.strip()


@pytest.mark.slow
def test_a_process_that_had_a_gpu_takes_no_second_stack(nodes: Any, on_nodes: None) -> None:
    host = nodes.add_node(num_cpus=1, num_gpus=1, **nodes.small)  # Ray takes our word for the card
    try:
        found = run_all(jobs(STACKS, process, 1), torch.device("cuda"), lambda *count: None)
    finally:
        nodes.remove_node(host)
    assert len(STACKS) > 1 and len({*found}) == len(STACKS)


@pytest.mark.slow
def test_a_lost_head_is_told_in_one_sentence_before_the_library_ends_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = clustered(1)
    address = made.address
    try:
        enter_project(tmp_path, monkeypatch)
        with driving(address, monkeypatch) as driver:
            made.head_node.kill_gcs_server()
            told = driver.communicate(timeout=55)[1].strip().splitlines()
    finally:
        made.shutdown()
    assert driver.returncode == 1
    assert f"the head of the Ray cluster at {address} was lost" in told[-1]
    assert "Traceback" not in "".join(told)


@pytest.mark.slow
def test_a_frozen_host_is_given_up_and_changes_nothing_when_it_wakes(nodes: Any, expected: dict[str, str]) -> None:
    item, frozen = item_of(small_params(EPOCHS), *WORDS), []
    threading.Thread(target=partial(freeze_a_node, nodes, frozen), daemon=True).start()
    items.train(item.name, [item])
    assert frozen, "no node was frozen in the middle of its work"
    assert digests(item.runs) == expected
    awake = [process for process in frozen if process.is_running()]
    assert awake, "the frozen host was no longer there to wake"
    for process in awake:
        process.resume()
    psutil.wait_procs(awake, timeout=30)
    nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
    nodes.add_node(num_cpus=1, **nodes.small)
    assert digests(item.runs) == expected


@pytest.mark.slow
def test_a_stack_that_fails_on_a_worker_ends_in_one_sentence(on_nodes: None) -> None:
    with pytest.raises(UserError, match=r"^this stack does not fit$"):
        run_all(jobs(STACKS, refuse, 4), CPU, lambda count: None)


@pytest.mark.slow
@pytest.mark.parametrize("told", [False, True], ids=["ray start", "ray start --system-config"])
def test_a_stack_may_take_longer_than_a_host_waits_for_a_sign_of_life(
    told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = clustered(1, **told_to_the_head() if told else {})
    try:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setattr(executor, "_way", Way("ray", ray=Ray(address=made.address)))
        (begun,) = run_all(jobs(STACKS[:1], partial(idle, tmp_path), 1), CPU, lambda count: None)
    finally:
        made.shutdown()
    assert begun == 1, "its worker was given up, and it began again"


def idle(folder: Path, stack: object, tell: object) -> int:
    """Long enough for three pings; how often it was begun."""
    with (folder / "begun").open("a") as file:
        file.write(".")
    time.sleep(100)
    return len((folder / "begun").read_text())


def process(stack: object, tell: object) -> int:
    """Who does it, if it may use a card."""
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"
    return os.getpid()


def refuse(stack: object, tell: object) -> None:
    raise UserError("this stack does not fit")


def digests(runs: Path) -> dict[str, str]:
    """Of every cell's weights."""
    files = sorted(runs.glob("*/weights.safetensors"))
    return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextmanager
def driving(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A driver whose cluster is in the middle of its stacks."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'src'}")
    command = [sys.executable, "-c", DRIVER, address, "5000"]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True) as driver:
        try:
            wait_for_a_checkpoint()
            yield driver
        finally:
            driver.kill()


def wait_for_a_checkpoint() -> None:
    """Until some stack is in the middle."""
    until = time.monotonic() + 240  # beside other work a worker takes its time to start
    while not [*store.root().glob("stacks/*.pt")]:
        assert time.monotonic() < until, "no stack was begun"
        time.sleep(0.05)


def kill_a_node(nodes: Any, gone: list[str]) -> None:
    """Take one of the two hosts away, with the stack that it trains."""
    wait_for_a_checkpoint()
    gone.append("node")
    nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)


def freeze_a_node(nodes: Any, frozen: list[psutil.Process]) -> None:
    """Stop every process of one of the two hosts in the middle of its work, as a host that swaps or hangs."""
    wait_for_a_checkpoint()
    (host,) = nodes.list_all_nodes()[-1].all_processes["raylet"]
    raylet = psutil.Process(host.process.pid)
    frozen.extend([raylet, *raylet.children(recursive=True)])
    for process in frozen:
        process.suspend()


def kill_a_worker(killed: list[int]) -> None:
    """Kill the first process that is in the middle of a stack, once a checkpoint of one is there."""
    wait_for_a_checkpoint()
    until = time.monotonic() + 240  # beside other work a worker takes its time to start
    while not killed and time.monotonic() < until:
        time.sleep(0.05)
        for process in psutil.Process().children(recursive=True):
            try:
                if process.cmdline()[:1] == ["ray::_task"]:
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    break
            except (psutil.Error, ProcessLookupError):
                continue
