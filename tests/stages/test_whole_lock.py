"""Files that DVC left half-written are removed, whole ones are kept, and a DVC that writes is waited for."""

import time
from multiprocessing import get_context
from pathlib import Path

import pytest
import zc.lockfile

from stages import whole_lock


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole_lock.DVC.mkdir(parents=True)


@pytest.mark.parametrize("content", ["", "schema: '2.0'\nstages:\n  collect:\n    cmd: pyth"])
def test_a_dvc_lock_cut_short_is_removed_with_one_line(content: str, capsys: pytest.CaptureFixture) -> None:
    Path("dvc.lock").write_text(content)
    (whole_lock.DVC / "rwlock").write_text("")
    whole_lock.main()
    assert not Path("dvc.lock").exists() and not (whole_lock.DVC / "rwlock").exists()
    assert capsys.readouterr().out.count("cut short") == 2


def test_whole_files_are_kept_in_silence(capsys: pytest.CaptureFixture) -> None:
    for path, content in ((Path("dvc.lock"), "schema: '2.0'\n"), (whole_lock.DVC / "rwlock", "{}")):
        path.write_text(content)
    whole_lock.main()
    assert Path("dvc.lock").exists() and (whole_lock.DVC / "rwlock").exists()
    assert not capsys.readouterr().out


def writing(began: object) -> None:
    """DVC, with its own lock, which takes its time to write dvc.lock."""
    lock = zc.lockfile.LockFile(str(whole_lock.DVC / "lock"))
    Path("dvc.lock").write_text("schema: ")
    began.set()
    time.sleep(0.5)
    Path("dvc.lock").write_text("schema: '2.0'\n")
    lock.close()


def test_a_dvc_that_writes_at_this_moment_is_waited_for() -> None:
    context = get_context("fork")
    began = context.Event()
    other = context.Process(target=writing, args=(began,))
    other.start()
    began.wait()
    whole_lock.main()
    other.join()
    assert Path("dvc.lock").read_text() == "schema: '2.0'\n"
