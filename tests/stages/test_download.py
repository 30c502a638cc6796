"""The stages of the data: one file makes a data set known, what is unknown is told, and torch stays away."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from descent.components import TASKS
from descent.errors import UserError
from descent.io.core_yaml import read
from stages import download, preprocess

TESTS = Path(__file__).parents[1]
NEWS = """
LABEL = "News"
TREE = "train.jsonl and test.jsonl"
ADDRESS = "nowhere"
CLASSES = ("sport", "world")
TRAIN = ("train",)
TEST = ("test",)
TEXTS = (("text",),)
"""


def project(folder: Path) -> Path:
    """A copy of the source with a data set of one's own: a file, a copy of the data, words in params.yaml."""
    shutil.copytree(TESTS.parent / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "src/descent/tasks/text/datasets/news.py").write_text(NEWS)
    (folder / "data/local/news").mkdir(parents=True)
    for part in ("train", "test"):
        rows = [{"text": f"{part} {number}", "label": ("sport", "world")[number % 2]} for number in range(40)]
        (folder / f"data/local/news/{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    values = read(TESTS / "params.yaml")
    values["text"]["datasets"] = ["news"]
    values["studies"] = []
    values["profiles"]["demo"]["data"]["news"] = {"path": "news"}
    (folder / "params.yaml").write_text(json.dumps(values))
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if key != "DVC_ROOT"}
    environment |= {"PYTHONPATH": f"{folder / 'src'}:{TESTS.parent}"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def test_a_data_set_of_ones_own_is_one_file_and_its_words_in_params_yaml(tmp_path: Path) -> None:
    folder = project(tmp_path)
    for words in (["stages.download", "text", "news"], ["stages.preprocess", "text", "news"]):
        done = run(folder, "-m", *words)
        assert done.returncode == 0, done.stderr
    meta = json.loads((folder / "data/prepared/news/bert/meta.json").read_text())
    assert meta["classes"] == ["sport", "world"] and meta["texts"]["test"] == 40 and not meta["synthetic"]


def test_an_unknown_task_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(TESTS / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    for stage in (download, preprocess):
        with pytest.raises(UserError, match="unknown task 'audio'; known: video, text, lm"):
            stage.main("audio", "speech")


def test_the_stages_of_the_data_and_the_data_sets_import_no_torch() -> None:
    code = (
        "import sys, stages.download, stages.preprocess\n"
        "from descent import components\n"
        f"for task in {TASKS}:\n"
        "    for part in ('raw', 'prepare'): stages.download.of_task(task, part)\n"
        "    place = f'tasks.{task}.datasets'\n"
        "    for name in components.names(place): components.load(place, name)\n"
        "print(*sys.modules)"
    )
    found = run(TESTS.parent, "-c", code).stdout.split()
    assert {f"descent.tasks.{task}.prepare" for task in TASKS} <= set(found)
    assert not {"torch", "transformers", "datasets"} & set(found)
