"""A stage that another Python was asked to run ends in one sentence that says how to activate the environment."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import stages
from descent import errors
from descent.interruption import TOLD

ROOT = Path(__file__).parents[2]
OLD = "import sys; sys.version_info = (3, 9, 1); import stages"


@pytest.mark.parametrize(
    ("words", "said"),
    [(("-S", "-m", "stages.collect"), " has no "), (("-S", "-c", OLD), "is Python 3.9, and 3.11 is needed")],
)
def test_another_python_is_told_in_one_sentence(words: tuple[str, ...], said: str) -> None:
    found = subprocess.run((sys.executable, *words), cwd=ROOT, capture_output=True, text=True)  # -S: no libraries
    assert found.returncode == 1 and found.stdout == ""
    (sentence,) = found.stderr.strip().splitlines()
    assert said in sentence and sys.executable in sentence and "source .venv/bin/activate" in sentence


def test_half_a_compiled_module_is_told_with_what_to_remove(tmp_path: Path) -> None:
    for name in ("src", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    words = (sys.executable, "-c", "import stages; import descent.names")
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True)
    assert run(words, env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""}).returncode == 0
    (copy,) = (tmp_path / "src").rglob("names.*.pyc")
    copy.write_bytes(copy.read_bytes()[:500])
    found = run(words)
    assert found.returncode == 1 and found.stderr.count("\n") == 2
    assert "a full disk left a half-written module: remove" in found.stderr
    command = found.stderr.partition("(")[2].rpartition(")")[0].replace(" .venv", "").replace(" tests", "")
    run(command, shell=True, check=True)
    assert run(words).returncode == 0


@pytest.mark.parametrize("room", [0, 2**40])
def test_no_module_is_compiled_to_a_full_disk_nor_once_a_stage_works(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=room, f_frsize=1))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    importlib.reload(stages)
    assert sys.dont_write_bytecode == (room == 0)
    seen: list[bool] = []
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # a stage's answers to signals are not pytest's
    errors.run(lambda: seen.append(sys.dont_write_bytecode))
    assert seen == [True]


def test_what_is_wrong_in_our_own_code_keeps_its_trace() -> None:
    words = (sys.executable, "-c", "import stages; import descent.nothing")
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 1 and "Traceback" in found.stderr and "descent.nothing" in found.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_what_hears_it_is_imported_is_heard(number: signal.Signals) -> None:
    code = f"""
import importlib.abc, os, sys
class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "descent.interruption":
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Interrupts())
sys.argv[0] = "-m"
import stages
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 130 and done.stderr.strip() == TOLD.strip(), done.stderr
    assert "went on" not in done.stdout
