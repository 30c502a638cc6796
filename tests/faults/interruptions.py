"""Stages of a tiny pipeline that are interrupted again and again make the bytes that undisturbed ones make."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pandas as pd

from tests.fakes import core

SECONDS = 2.0  # from a signal to the end of the process
LATEST = 300  # seconds that a stage may take
TIMES = 2  # interruptions of a stage
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
TINY = {"layers": [2], "epochs": 2, "eps": [0.0], "seeds": [0]}
PARAMS = {
    "video.models": ["ut"],
    "video.evaluation.bootstrap": 5,
    "video.frame": {"size": 16, "patch": 8, "split": "official"},
    "text.datasets": ["imdb"],
    "text.models": ["ut_text"],
    "text.evaluation.bootstrap": 5,
    "lm.datasets": ["alpaca"],
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
    *("collect", "scorecard", "plots", "plots_page"),
    *("figure fig02_video_robustness", "figure fig04_text_robustness", "figure fig16_completions"),
    *("table table3_video_rmse", "table table_ladder", "report"),
]
# Times of day and seconds differ from run to run; the page shows them.
TIMED = {"history.csv", "cell.json", "index.html"}


def project(folder: Path) -> Path:
    """A tiny project in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("src", "stages", "data/paper"):
        shutil.copytree(core.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    core.write_params(folder, PARAMS)
    return folder


def start(folder: Path, stage: str) -> subprocess.Popen:
    """A stage in a process group of its own, as a shell starts it."""
    command = [sys.executable, "-m", f"stages.{stage.split()[0]}", *stage.split()[1:]]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=core.environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def whole(folder: Path, stage: str) -> str:
    """Run a stage to its end; what went wrong, in words."""
    process = start(folder, stage)
    output, _ = process.communicate(timeout=LATEST)
    return f"ended with {process.returncode}: {output[-400:]}" if process.returncode else ""


def interrupted(folder: Path, stage: str, number: signal.Signals, after: float) -> str:
    """Start a stage and send its group a signal; what is wrong with how it ended, in words."""
    process = start(folder, stage)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        began = time.monotonic()
        os.killpg(process.pid, number)
        output, _ = process.communicate(timeout=60)
        took = time.monotonic() - began
        if number != signal.SIGKILL:
            return _ending(process.returncode, output, took)
    else:
        process.communicate()
    return ""


def _ending(code: int, output: str, took: float) -> str:
    told = output.count("interrupted; what was finished is kept")
    if "Traceback" in output:
        return f"traceback: {output[-600:]}"
    if code == 130 and told != 1:
        return f"told {told} times: {output[-300:]}"
    if code not in (0, 130):
        # Before the interpreter runs a line of ours, the system ends it, and nothing is said.
        early = code in (-signal.SIGINT, -signal.SIGTERM) and not output
        return "" if early else f"ended with {code}: {output[-300:]}"
    return f"took {took:.1f} s" if took > SECONDS else ""


def made(folder: Path) -> dict[str, str]:
    """A digest of every file that the stages make, by its path; of those with times in them, of the rest."""
    found = {}
    for place in ("data", "figures"):
        for path in sorted((folder / place).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not name.startswith("data/paper"):
                found[name] = "" if path.name in TIMED else hashlib.sha256(_timeless(path)).hexdigest()
    return found


def _timeless(path: Path) -> bytes:
    """The content of a file; of tables what is no time."""
    if path.name == "summary.csv":
        return pd.read_csv(path).drop(columns="seconds").to_csv(index=False).encode()
    if path.suffix != ".parquet":
        return path.read_bytes()
    table = pd.read_parquet(path)
    kept = table[table["metric"] != "seconds"] if "metric" in table else table
    return kept.to_csv(index=False).encode()


def campaign(folder: Path) -> dict[str, str]:
    """Every stage undisturbed in one project and interrupted in another; resumable, by file of what was found."""
    file = folder / "interruptions.json"
    if file.exists() and not any((found := json.loads(file.read_text())).values()):
        return found
    calm, disturbed = project(folder / "calm"), project(folder / "disturbed")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_calm, calm)
        found = _disturbed(disturbed, Random(0)) | first.result()
    ours, theirs = made(calm), made(disturbed)
    other = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    found["interruption: the same bytes in every file at the end"] = ", ".join(other[:9])
    left = [str(path) for path in disturbed.rglob("*.partial*")]
    found["interruption: no parts of files at the end"] = ", ".join(left[:9])
    file.write_text(json.dumps(found))
    return found


def _calm(folder: Path) -> dict[str, str]:
    return {f"undisturbed stage: {stage}": whole(folder, stage) for stage in STAGES}


def _disturbed(folder: Path, random: Random) -> dict[str, str]:
    found, number = {}, 0
    for stage in STAGES:
        for _ in range(TIMES):
            kind = SIGNALS[number % len(SIGNALS)]
            after = random.choice((0.3, 1.0, 2.0, 3.0, 4.0)) + random.random()
            found[f"interruption: {stage}, {kind.name} after {after:.1f} s"] = interrupted(
                folder, stage, kind, after
            )
            number += 1
        found[f"stage after its interruptions: {stage}"] = whole(folder, stage)
    return found
