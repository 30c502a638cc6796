"""What a user can mend about a Ray cluster, or on a worker of it, ends in one sentence."""

import errno
import re
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from descent.errors import UserError
from descent.runner import cluster, executor, hosts
from descent.runner.executor import Way, jobs, run_all
from descent.runner.schema import Ray
from tests.fakes.cluster import library
from tests.fakes.core import enter_project
from tests.fakes.stacks import CPU, STACKS

JOBS = jobs(STACKS, lambda stack, tell: None, 4)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # the library's own
    pytest.mark.usefixtures("bounded"),
]


def test_workers_refuse_a_host_that_is_not_as_the_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here, marks = hosts.identity() | {"folder": str(tmp_path)}, hosts.marked()
    hosts.enter(here, marks)
    for name in ("torch", "transformers", "numpy", "Python", "the code of src/descent"):
        with pytest.raises(
            UserError, match=rf"{name} on host .* is .*, and 0.1 on the host that asked: make them alike"
        ):
            hosts.enter(here | {name: "0.1"}, marks)


@pytest.mark.parametrize("unseen", [0, 1], ids=["store", "data"])
def test_workers_refuse_a_host_whose_store_or_data_are_others(
    unseen: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    (shared / "cells").mkdir(parents=True)
    own.mkdir()
    (own / ".cells").symlink_to(shared / "cells")  # what a project that is not shared may yet have of what is
    enter_project(own, monkeypatch)
    marks = hosts.marked()
    assert [mark.parent for mark in marks] == [shared / "cells", own / "data"]
    marks[unseen].unlink()
    place = re.escape(str(marks[unseen].parent))
    with pytest.raises(UserError, match=rf"does not see {place} as .* that all hosts share, at the same path"):
        hosts.enter(hosts.identity() | {"folder": str(own)}, marks)


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


class TaskError(Exception):
    """As Ray tells what a worker raised: with the cause beside it, and of no kind that others know."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"ray::_task() on another host\n{type(cause).__name__}: {cause}")
        self.cause = cause


def end_by(cause: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have stacks trained by a library of which every worker raises this."""
    tally = SimpleNamespace(total=SimpleNamespace(remote=lambda: "total"))
    monkeypatch.setattr(cluster.Tally, "bind", lambda ray: tally)

    def get(asked: object) -> tuple[int, int]:
        if asked == "stack":
            raise TaskError(cause)
        return 0, 0

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
    needs = [{"num_cpus": 1, "num_gpus": 0.0}] * len(JOBS)
    cluster._together(library, JOBS, needs, lambda done: None, Ray())


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
