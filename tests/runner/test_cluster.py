"""Stacks on a Ray cluster of a head and two nodes on this host: the pool's bytes, also when a worker is killed."""

import errno
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch

from descent.errors import UserError
from descent.runner import cluster, executor, hosts, items, store
from descent.runner.executor import Way, jobs, run_all
from descent.runner.schema import Ray
from tests.fakes.core import DATASET, enter_project, item_of, small_params
from tests.runner.test_executor import CPU, STACKS

JOBS = jobs(STACKS, lambda stack, tell: None, 4)

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
ROOT = Path(__file__).parents[2]
WORDS = ("video", DATASET, "dust")
LONGEST = 600  # seconds of a test; a host that froze is given up after a minute
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


def test_workers_refuse_a_host_that_is_not_as_the_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here, mark = hosts.identity() | {"folder": str(tmp_path)}, tmp_path / "mark"
    with pytest.raises(UserError, match=r"does not see the store .* that all hosts share"):
        hosts.enter(here, mark)
    mark.touch()
    hosts.enter(here, mark)
    for name in ("torch", "Python", "the code of src/descent"):
        with pytest.raises(
            UserError, match=rf"{name} on host .* is .*, and 0.1 on the host that asked: make them alike"
        ):
            hosts.enter(here | {name: "0.1"}, mark)


def test_a_stack_asks_for_what_some_host_has() -> None:
    hosts = [{"CPU": 1.0, "memory": 1e9}, {"CPU": 4.0, "GPU": 2.0}]
    assert cluster.fitting(hosts, 2, 0.0) == {"num_cpus": 2, "num_gpus": 0.0}
    assert cluster.fitting(hosts, 16, 0.0)["num_cpus"] == 4, "Ray would wait for sixteen cores for ever"
    assert cluster.fitting(hosts, 2, 0.33) == {"num_cpus": 0, "num_gpus": 0.33}
    for nodes, gpus, name in ((hosts[:1], 0.33, "GPU"), ([{}], 0.0, "CPU"), ([], 1.0, "GPU")):
        with pytest.raises(UserError, match=f"no host of the Ray cluster has a {name} to give: start one"):
            cluster.fitting(nodes, 2, gpus)


def test_a_numbered_gpu_is_not_asked_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", object())
    monkeypatch.setattr(executor, "_way", Way("ray"))
    with pytest.raises(UserError, match="device: cuda:1, but Ray chooses a GPU for each stack"):
        run_all(JOBS, torch.device("cuda:1"), lambda count: None)


def test_without_the_library_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    monkeypatch.setattr(executor, "_way", Way("ray"))
    with pytest.raises(UserError, match=r"Ray is not installed: pip install -r requirements-ray.txt"):
        run_all(JOBS, CPU, lambda count: None)


def test_progress_of_a_stack_that_began_again_counts_once() -> None:
    tally = cluster.Tally()
    for number, done in ((0, 3), (1, 2), (0, 5), (1, 1)):
        tally.tell(number, done)
    assert tally.total() == 5 + 2


class TaskError(Exception):
    """As Ray tells what a worker raised: with the cause beside it, and of no kind that others know."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"ray::_task() on another host\n{type(cause).__name__}: {cause}")
        self.cause = cause


def end_by(cause: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have stacks trained by a library of which every worker raises this."""
    tally = SimpleNamespace(total=SimpleNamespace(remote=lambda: "total"))
    monkeypatch.setattr(cluster.Tally, "bind", lambda ray: tally)

    def get(asked: object) -> int:
        if asked == "stack":
            raise TaskError(cause)
        return 0

    handle = SimpleNamespace(remote=lambda *words: "stack", options=lambda **words: handle)
    kinds = SimpleNamespace(RayTaskError=TaskError, RayError=TaskError)
    library = SimpleNamespace(
        remote=lambda task: handle,
        wait=lambda waiting, timeout: (waiting, []),
        get=get,
        cancel=lambda one, force: None,
        exceptions=kinds,
        get_runtime_context=lambda: SimpleNamespace(gcs_address="127.0.0.1:1"),
    )
    cluster._together(library, JOBS, [{}] * len(JOBS), lambda done: None, Ray())


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB."), r"^the GPU's memory is full: "),
        (MemoryError(), "^there is not enough memory"),
        (OSError(errno.ENOSPC, "No space left", ".cells/x"), r"^the disk is full \(\.cells/x\)"),
        (PermissionError(errno.EACCES, "Permission denied", ".cells"), r"^\.cells: Permission denied; give"),
        (OSError(errno.ESTALE, "Stale file handle"), "^Stale file handle; check the disk"),
        (UserError("this stack does not fit"), "^this stack does not fit$"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_user_can_mend_on_a_worker_ends_in_one_sentence(
    cause: Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=told):
        end_by(cause, monkeypatch)


def test_a_fault_of_ours_on_a_worker_keeps_its_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TaskError, match="ValueError: wrong"):
        end_by(ValueError("wrong"), monkeypatch)


def test_an_address_that_does_not_answer_is_told() -> None:
    library()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, and nobody listens
        address = f"127.0.0.1:{held.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(UserError, match=rf"no Ray cluster answers at {address} .*ray start --head"):
            cluster.run_all(JOBS, CPU, lambda count: None, Ray(address=address), {})
    assert time.monotonic() - began < 30


def refused(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a cluster of which the library's own `init` raises this."""
    kinds = SimpleNamespace(RayError=TaskError)

    def init(**options: Any) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, exceptions=kinds))
    cluster.run_all(JOBS, CPU, lambda count: None, Ray(), {})


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (TaskError(ValueError("no token")), "does not let this host in .* the same RAY_AUTH_MODE and token"),
        (ConnectionError("nobody"), "no Ray cluster answers at auto"),
    ],
    ids=["token", "address"],
)
def test_a_cluster_that_will_not_have_this_host_is_told(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=told):
        refused(error, monkeypatch)


def test_a_cluster_of_another_ray_is_told_with_both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    library()
    from ray._private.utils import check_version_info

    with pytest.raises(RuntimeError) as raised:  # the library's own words
        check_version_info({"ray_version": "2.59.0", "python_version": "3.10.1"}, "this host")
    told = r"Ray: 2\.59\.0 Python: 3\.10\.1 .*Ray: .* Python: .*-r requirements-ray\.txt .*start Ray anew"
    with pytest.raises(UserError, match=told):
        refused(raised.value, monkeypatch)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """A cluster that waits for something for ever ends the test, and not the whole run."""

    def ended(number: int, frame: object) -> None:
        raise TimeoutError(f"the cluster took more than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def library() -> None:
    """Imported as a driver does, with its limits, which Ray reads once; skips where it is not installed."""
    try:
        cluster._library()
    except UserError as error:
        pytest.skip(str(error))


def clustered(hosts: int, **system: int) -> Any:
    """A cluster of a head without cores and nodes of one core each, as `ray start --system-config` makes it."""
    library()
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": system, **small})
    made.small = small
    for _ in range(hosts):
        made.add_node(num_cpus=1, **small)
    return made


def told_to_the_head() -> dict[str, int]:
    """What the README has the head of several hosts started with."""
    return json.loads(re.search(r"--system-config='(\{.*?\})'", (ROOT / "README.md").read_text())[1])


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Two nodes, for most tests."""
    made = clustered(2, **told_to_the_head())
    yield made
    made.shutdown()


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
def test_a_lost_head_is_told_in_one_sentence_before_the_library_ends_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = clustered(1)
    address = made.address
    try:
        enter_project(tmp_path, monkeypatch)
        monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'src'}")
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, address, "5000"],
            start_new_session=True,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_a_checkpoint()
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
def test_a_stack_that_fails_on_a_worker_ends_in_one_sentence(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(executor, "_way", Way("ray", ray=Ray(address=nodes.address)))
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


def refuse(stack: object, tell: object) -> None:
    raise UserError("this stack does not fit")


def digests(runs: Path) -> dict[str, str]:
    """Of every cell's weights."""
    files = sorted(runs.glob("*/weights.safetensors"))
    return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


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
