"""The right to train between hosts: it ends by itself where its holder is frozen or killed, and not before."""

import errno
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from descent.errors import UserError, sentence
from descent.runner import store
from descent.tasks.common import pruning
from stages import prune_store

ROOT = Path(__file__).parents[2]
HOLDER = """import sys, time
from descent.runner import store
store.LEASE = float(sys.argv[1])
store.use_leases(sys.argv[3] == "lease")
with store.file_lock("item"):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setattr(store, "LEASE", 1.5)
    store.use_leases(True)
    yield
    store.use_leases(False)


@contextmanager
def holder(seconds: float, kind: str = "lease") -> Iterator[subprocess.Popen]:
    words = [sys.executable, "-c", HOLDER, str(store.LEASE), str(seconds), kind]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def waited() -> float:
    """Seconds until the right is ours."""
    began = time.monotonic()
    with store.file_lock("item"):
        return time.monotonic() - began


@pytest.mark.parametrize("kind", [store.FileLock, store.SoftFileLease])
def test_a_full_disk_is_told_with_the_lock_that_found_no_room(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")  # of a number, not of a path

    store.use_leases(kind is store.SoftFileLease)
    monkeypatch.setattr(kind, "acquire", full)
    with pytest.raises(OSError) as error, store.file_lock("item"):
        pass
    told = sentence(error.value)
    assert told.startswith("the disk is full (") and str(store.root() / "locks" / "item") in told


def test_a_right_that_nobody_has_is_taken_without_a_word_of_the_other_kind() -> None:
    for shared, other in ((False, "lease"), (True, "lock")):
        store.use_leases(shared)
        with store.file_lock(f"item-{other}"):
            held = {place.name for place in (store.root() / "locks").iterdir()}
            assert f"item-{other}.{other}" not in held, "what another kind would write"


@pytest.mark.slow
def test_a_holder_that_works_keeps_the_right_for_longer_than_a_lease_lasts() -> None:
    with holder(2 * store.LEASE) as process:
        assert waited() > 1.5 * store.LEASE
        assert process.wait(10) == 0


@pytest.mark.parametrize("kind", ["lease", "lock"])
def test_a_store_is_in_use_while_some_process_has_a_right(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert not store.in_use()
    monkeypatch.setattr(pruning, "every_params", list)
    with holder(60, kind):
        assert store.in_use()
        with pytest.raises(UserError, match="a run is training"):
            prune_store.main()
    time.sleep(1.2 * store.LEASE)
    assert not store.in_use(), "its holder was killed"
    prune_store.main()
    assert "0 kept, 0 gone" in capsys.readouterr().out


def test_a_lease_of_a_host_that_is_gone_does_not_keep_a_store_in_use_for_ever() -> None:
    with holder(60) as process:
        [lease] = Path(".cells/locks").glob("*.lease")
        process.send_signal(signal.SIGSTOP)
        written = lease.read_text().replace(platform.node(), "a-host-that-is-gone")
        process.kill()
    lease.write_text(written)
    began = time.monotonic()
    assert "a-host-that-is-gone" in written and not store.in_use()
    assert time.monotonic() - began > 0.9 * store.LEASE


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_of_a_holder_that_is_frozen_or_killed_another_takes_the_right_over(how: signal.Signals) -> None:
    with holder(60) as process:
        process.send_signal(how)
        assert waited() < 10 * store.LEASE


def test_on_one_host_the_right_is_free_as_soon_as_its_holder_is_killed() -> None:
    store.use_leases(False)
    with holder(60, "lock") as process:
        process.kill()
        process.wait()
        assert waited() < store.LEASE


@pytest.mark.parametrize(("theirs", "ours"), [("lock", True), ("lease", False)])
def test_a_run_of_this_host_alone_and_one_of_a_cluster_wait_for_each_other(theirs: str, ours: bool) -> None:
    store.use_leases(ours)
    with holder(store.LEASE, theirs):
        assert waited() > store.LEASE / 2


@pytest.mark.slow
def test_a_run_of_this_host_alone_takes_over_from_a_host_of_a_cluster_that_froze() -> None:
    store.use_leases(False)
    with holder(60, "lease") as process:
        process.send_signal(signal.SIGSTOP)
        assert waited() < 10 * store.LEASE
