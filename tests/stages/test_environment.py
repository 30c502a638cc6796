"""A stage that another Python was asked to run ends in one sentence that says how to activate the environment."""

import subprocess
import sys
from pathlib import Path

import pytest

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


def test_what_is_wrong_in_our_own_code_keeps_its_trace() -> None:
    words = (sys.executable, "-c", "import stages; import descent.nothing")
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 1 and "Traceback" in found.stderr and "descent.nothing" in found.stderr
