"""A pipeline of every kind of stage that runs in seconds, and a digest of all that it makes."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import pandas as pd

from tests.fakes import core

LATEST = 300  # seconds that a stage may take
ALL = 1200  # seconds that all of them may take
TINY = {"layers": [2], "epochs": 2, "eps": [0.0], "seeds": [0]}
PARAMS = {
    "video.models": ["ut"],
    "video.evaluation": {"gammas": [0.0, 0.3, 0.6], "noise_draws": 1, "bootstrap": 5},
    "video.frame": {"size": 16, "patch": 8, "split": "official"},
    "text.datasets": ["imdb"],
    "text.models": ["ut_text"],
    "text.evaluation": {"gammas": [0.0, 1.0, 2.0], "noise_draws": 1, "bootstrap": 5},
    "lm.datasets": ["alpaca"],
    "lm.evaluation": {"gammas": [0.0, 0.25, 1.0], "noise_draws": 1, "bootstrap": 5},
    "studies": ["infeasible"],
    "study.infeasible": {"model": "ut", "layers": 2},
    "profiles.demo.data.ucsd": {"generate": {"seed": 1, "train_clips": 3, "test_clips": 2, "frames": 12}},
    "profiles.demo.data.imdb": {"generate": {"seed": 1, "train_texts": 300, "test_texts": 40}},
    "profiles.demo.data.alpaca": {"generate": {"seed": 1, "instructions": 300}},
    "profiles.demo.video": TINY | {"epoch_inputs": 64, "validation_inputs": 16, "test_inputs": 32},
    "profiles.demo.text": {"epochs": 2, "max_tokens": 16},
    "profiles.demo.text.models.ut_text": {"layers": [2], "embeddings": {"width": 8}},
    "profiles.demo.lm": {"epochs": 2, "max_tokens": 32},
    "training.checkpoint_seconds": 0.0,
}
DATA = {"video": "ucsd", "text": "imdb", "lm": "alpaca"}
STAGES = [
    *(f"{kind} {task} {name}" for kind in ("download", "preprocess", "train") for task, name in DATA.items()),
    "train_studies infeasible",
    *(f"evaluate {task} {name}" for task, name in DATA.items()),
    "evaluate_studies infeasible",
    "evaluate_transfer",
    *("collect", "scorecard", "plots", "plots_page"),
    *("figures video", "figures text", "figures lm", "figures beyond", "report"),
]
# On the page and in what figures say of themselves: the commit, and seconds of training by task.
OF_A_RUN = re.compile(r"unknown \(no git checkout\)|\b[0-9a-f]{12}\b|\b(video|text|lm|study) \d+\.\d")
DVC = ("dvc.yaml", ".dvcignore", ".gitignore", ".dvc/config")  # what makes a project one of DVC's


def project(folder: Path, dvc: bool = False) -> Path:
    """A tiny project in a folder that is emptied; with DVC under git, as `dvc exp` needs it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("src", "stages", "data/paper"):
        shutil.copytree(core.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    core.write_params(folder, PARAMS)
    if dvc:
        (folder / ".dvc").mkdir()
        for name in DVC:
            shutil.copy(core.ROOT / name, folder / name)
        (folder / "data/judge.json").write_text("{}\n")  # of a frozen stage, in git
        mine = ("-c", "user.name=faults", "-c", "user.email=faults@localhost")
        for words in (("init", "-q"), ("add", "-A"), (*mine, "commit", "-qm", "tiny")):
            subprocess.run(("git", *words), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def start(folder: Path, command: Sequence[str], output: IO[str] | int = subprocess.PIPE) -> subprocess.Popen:
    """A command in a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=_environment() | (_offline(folder) if command[2].startswith("stages.") else {}),
        text=True,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """With the python of these tests first, since dvc.yaml says `python`; git needs a name to save experiments."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    person = {f"GIT_{who}_{what}": "faults" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return core.environment() | person | {"PATH": path}


def _offline(folder: Path) -> dict[str, str]:
    """Stages ask no network: DVC's own processes may."""
    path = os.pathsep.join((str(Path(__file__).parent / "offline"), core.environment()["PYTHONPATH"]))
    return {"PYTHONPATH": path, "ASKED": str(folder.resolve() / "asked")}


def asked(folder: Path) -> str:
    """What stages asked the network of in a project, in words."""
    file = folder / "asked"
    return f"the network was asked: {file.read_text()[:300]}" if file.exists() else ""


def stage(words: str) -> list[str]:
    """The command of a stage."""
    return [sys.executable, "-m", f"stages.{words.split()[0]}", *words.split()[1:]]


def dvc(*words: str) -> list[str]:
    """A command of DVC's."""
    return [sys.executable, "-m", "dvc", *words]


def whole(folder: Path, command: Sequence[str], seconds: int = LATEST) -> str:
    """Run a command to its end; what went wrong, in words."""
    process = start(folder, command)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"hang: more than {seconds} s"
    return f"ended with {process.returncode}: {output[-600:]}" if process.returncode else ""


Step = tuple[str, Callable[[Path], str]]


def resumed(folder: Path, steps: Sequence[Step], dvc: bool = False) -> dict[str, str]:
    """What came of each step in a project, in words, less those that an earlier call has finished.

    Where one of them went wrong, all begin again in a new project.
    """
    file = folder.with_suffix(".json")
    found = json.loads(file.read_text()) if file.exists() else {}
    if not found or any(found.values()):
        found = {}
        project(folder, dvc)
    for name, act in steps:
        if name not in found:
            began = time.monotonic()
            found[name] = act(folder)
            file.write_text(json.dumps(found))
            print(f"{time.monotonic() - began:6.1f} s  {name}", flush=True)
    return found


def made(folder: Path) -> dict[str, str]:
    """A digest of every file that the stages make, by its path, without the times that differ from run to run."""
    found = {}
    for place in ("data", "figures"):
        for path in sorted((folder / place).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not name.startswith(("data/paper", "data/judge")):
                found[name] = hashlib.sha256(_timeless(path)).hexdigest()
    return found


def unlike(folder: Path, calm: Path) -> str:
    """The files in which a project differs from an undisturbed one, and parts of files left in it; in words."""
    ours, theirs = made(folder), made(calm)
    other = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*.partial*")]
    told = [f"other bytes: {', '.join(other[:9])}"] if other else []
    return "; ".join(told + ([f"left behind: {', '.join(left[:9])}"] if left else []))


def _timeless(path: Path) -> bytes:
    """The content of a file, without seconds, times of day and the commit."""
    if path.name == "cell.json":
        record = json.loads(path.read_text())
        for when in ("seconds", "began", "finished"):
            del record["made_by"][when]
        del record["files"]["history.csv"], record["files"]["cell.json"]
        return json.dumps(record).encode()
    if path.name in ("summary.csv", "history.csv"):
        return pd.read_csv(path).drop(columns="seconds").to_csv(index=False).encode()
    if path.name == "index.html" or path.parts[-3:-2] == ("shown",):
        return OF_A_RUN.sub("", path.read_text()).encode()
    if path.suffix != ".parquet":
        return path.read_bytes()
    table = pd.read_parquet(path)
    kept = table[table["metric"] != "seconds"] if "metric" in table else table
    return kept.to_csv(index=False).encode()
