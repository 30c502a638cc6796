"""Two at once in one checkout, in a temporary folder beside it, and in two checkouts with one store."""

import os
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

from tests.faults.tiny import ALL, LATEST, Step, dvc, made, project, resumed, stage, start, unlike, whole

TRAIN = stage("train video ucsd")
READ = "data/prepared/ucsd"  # what TRAIN reads


def campaign(folder: Path, calm: Path) -> dict[str, str]:
    """What came of each, by what was done; `calm` is a project that ran undisturbed."""
    pair, beside = folder / "two-repros", folder / "beside"
    found = resumed(pair, _two_repros(), dvc=True) | resumed(beside, _beside(), dvc=True)
    for place in (pair, beside):
        found[f"the same bytes: after {place.name}"] = unlike(place, calm)
    found["two at once: two checkouts with one store"] = shared_store(folder / "shared", calm)
    return found


def _two_repros() -> list[Step]:
    return [
        ("two at once: two dvc repro in one checkout", _started_together),
        ("two at once: what is left to dvc repro then", partial(whole, command=dvc("repro"), seconds=ALL)),
    ]


def _started_together(folder: Path) -> str:
    """Both at once; DVC may turn one of them away, in a sentence."""
    both = [start(folder, dvc("repro")) for _ in range(2)]
    said = [process.communicate(timeout=ALL)[0] for process in both]
    wrong = [
        text for process, text in zip(both, said, strict=True) if process.returncode and not _turned_away(text)
    ]
    if all(process.returncode for process in both):
        return f"neither went on: {said[0][-600:]}"
    return f"ended otherwise than turned away: {wrong[0][-900:]}" if wrong else ""


def _turned_away(said: str) -> bool:
    words = ("Unable to acquire lock", "is busy", "another process")
    return "Traceback" not in said and any(word in said for word in words)


def _beside() -> list[Step]:
    return [("two at once: an experiment in a temporary folder beside dvc repro", _experiment_beside)]


def _experiment_beside(folder: Path) -> str:
    """The same parameters in both: dvc.lock, which holds a digest of every output, must be the same."""
    repro = start(folder, dvc("repro"))
    experiment = start(folder, dvc("exp", "run", "--temp", "--name", "beside"))
    for process in (experiment, repro):
        said, _ = process.communicate(timeout=ALL)
        if process.returncode:
            return f"{' '.join(process.args[2:])} ended with {process.returncode}: {said[-900:]}"
    revision = _git(folder, "for-each-ref", "--format=%(objectname)", "refs/exps/*/*/beside").split()
    if not revision:
        return "there is no experiment"
    theirs = _git(folder, "show", f"{revision[0]}:dvc.lock").splitlines()
    ours = (folder / "dvc.lock").read_text().splitlines()
    other = [line for line in theirs if line not in ours]
    return f"another dvc.lock: {' '.join(other[:6])}" if other else ""


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(("git", *words), cwd=folder, check=True, capture_output=True, text=True).stdout


def shared_store(folder: Path, read: Path) -> str:
    """Three checkouts train the same cells at once in one store and one of them is killed; what is wrong then.

    Args:
        read: a project whose prepared data they read.
    """
    store = folder.resolve() / "store"
    places = [project(folder / name) for name in ("one", "two", "killed")]
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir()
    for place in places:
        shutil.copytree(read / READ, place / READ)
        (place / ".cells").symlink_to(store)
    *living, doomed = [start(place, TRAIN) for place in places]
    while doomed.poll() is None and not any((store / "stacks").glob("*.pt")):
        time.sleep(0.002)  # until one of them trains
    if doomed.returncode is not None:
        return "it was at its end before anybody trained"
    os.killpg(doomed.pid, signal.SIGKILL)
    for process in (*living, doomed):
        said, _ = process.communicate(timeout=LATEST)
        if process is not doomed and process.returncode:
            return f"ended with {process.returncode}: {said[-600:]}"
    one, two = ({name: (place / name).read_bytes() for name in made(place)} for place in places[:2])
    if not any(name.endswith("weights.safetensors") for name in one):
        return "nothing was trained"
    left = [str(path.relative_to(store)) for path in (*store.rglob("*.partial*"), *(store / "stacks").glob("*"))]
    other = [name for name in {*one, *two} if one.get(name) != two.get(name)]  # with the seconds: trained once
    return f"not trained once: {', '.join(other)}" if other else ", ".join(left)
