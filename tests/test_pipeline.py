"""dvc.yaml tells the truth: what stages import they depend on, and every name in it exists."""

import itertools
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from descent import components, config, kept
from descent.figures.parts import catalogue
from descent.io.core_yaml import read
from descent.runner.fingerprint import SOURCE, imported

ROOT = SOURCE.parent
DAG = read(ROOT / "dvc.yaml")
STAGES = DAG["stages"]
VALUES = read(Path(__file__).with_name("params.yaml"))
PARAMS = config.load(Path(__file__).with_name("params.yaml"))
# What reads params.yaml: the values enter as `params`, and code that only reads them can change no output.
READS = {
    "components.py",
    "config.py",
    "declared.py",
    "errors.py",
    "interruption.py",
    "kept.py",
    "paths.py",
    "schema.py",
    "study.py",
    "io/core_yaml.py",
}
READS |= {"primal_dual/problem.py", "runner/schema.py", "training/schema.py"} | {
    f"tasks/{task}/schema.py" for task in components.TASKS
}


def lookup(dotted: str) -> Any:
    found = VALUES
    for word in dotted.split("."):
        found = found[word]
    return found


def resolve(text: str, item: dict[str, str]) -> str:
    for key, value in item.items():
        text = text.replace(f"${{item.{key}}}", value)
    return re.sub(r"\$\{([\w.]+)\}", lambda match: str(lookup(match[1])), text)


def items(stage: dict) -> list[dict[str, str]]:
    axes = {
        name: lookup(values[2:-1]) if isinstance(values, str) else values
        for name, values in stage.get("matrix", {}).items()
    }
    return [dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*axes.values())]


CASES = [(name, item) for name, stage in STAGES.items() for item in items(stage)]


def words(name: str, item: dict[str, str]) -> list[str]:
    """The entry's module and its arguments."""
    return resolve(STAGES[name]["cmd"], item).split()[2:]


def roots(name: str, item: dict[str, str]) -> list[str]:
    """The entry, and what it imports by computed name: components, tasks, figures."""
    entry, *rest = words(name, item)
    kind = entry.removeprefix("stages.")
    found = [entry]
    if kind == "figures":
        found += [f"descent.figures.{rest[0]}.{name}" for name in catalogue.names(rest[0])]
    if kind in ("download", "preprocess", "train", "evaluate"):
        part = {"download": "raw", "preprocess": "prepare", "train": "feed", "evaluate": "evaluate"}[kind]
        found.append(f"descent.tasks.{rest[0]}.{part}")
        found += [f"descent.tasks.{rest[0]}.look"] if kind == "evaluate" else []
    if kind in ("train", "evaluate"):
        found.append(f"descent.tasks.{rest[0]}.data")
        found += [f"descent.models.{model}" for model in getattr(PARAMS, rest[0]).models]
        found += [f"descent.arms.{arm}" for arm in PARAMS.arms] if kind == "train" else []
        found += [f"descent.shifts.{shift}" for shift in components.names("shifts")] if kind == "evaluate" else []
    if kind in ("train_studies", "evaluate_studies"):
        part = kind.removesuffix("_studies").replace("train", "feed")
        found += [f"descent.tasks.{task}.{part}" for task in components.TASKS]
    if kind == "evaluate_transfer":
        found += [f"descent.models.{model}" for model in PARAMS.video.models] + ["descent.tasks.video.feed"]
        found += ["descent.shifts.gaussian"]
    if kind == "download":
        found += [f"descent.tasks.{rest[0]}.datasets.{rest[1]}"]
    return found


def find(module: str) -> Path | None:
    base = ROOT / "src" if module.startswith("descent") else ROOT
    path = base.joinpath(*module.split(".")).with_suffix(".py")
    return path if path.is_file() else None


def closure(modules: list[str]) -> set[str]:
    """The files of ours that these import, however deep, relative to the root; not what reads params.yaml."""
    found: set[Path] = set()
    waiting = [path for module in modules if (path := find(module))]
    while waiting:
        file = waiting.pop()
        if file in found or (file.is_relative_to(SOURCE) and str(file.relative_to(SOURCE / "descent")) in READS):
            continue
        found.add(file)
        waiting.extend(path for name in imported(file) if (path := find(name)))
    return {str(file.relative_to(ROOT)) for file in found}


@pytest.mark.parametrize(("name", "item"), CASES, ids=["@".join([n, *i.values()]) for n, i in CASES])
def test_a_stage_depends_on_every_file_that_it_imports(name: str, item: dict[str, str]) -> None:
    declared = [resolve(dep, item) for dep in STAGES[name]["deps"]]
    missing = [
        file
        for file in sorted(closure(roots(name, item)))
        if not any(file == dep or file.startswith(f"{dep}/") for dep in declared)
    ]
    assert missing == []


@pytest.mark.parametrize(("name", "item"), CASES, ids=["@".join([n, *i.values()]) for n, i in CASES])
def test_a_stage_depends_on_no_code_that_it_does_not_import(name: str, item: dict[str, str]) -> None:
    files = closure(roots(name, item))
    code = [dep for dep in STAGES[name]["deps"] if dep.startswith(("src/", "stages/"))]
    # Collect reads the labels of all components and imports none; a study may be of any task.
    places = [f"src/descent/{place}" for place in ("arms", "models", "primal_dual", "shifts", "tasks")]
    for dep in (resolve(dep, item) for dep in code):
        reads = name in ("collect", "train_studies", "evaluate_studies") and dep in places
        assert reads or any(file == dep or file.startswith(f"{dep}/") for file in files), dep


def test_scores_depend_on_what_chooses_the_constraints_and_those_of_studies_on_what_a_study_is() -> None:
    """What Params.held_to and studied read enters no weights, so no trained cell tells of it."""
    for name, stage in STAGES.items():
        if name.startswith("evaluate_"):
            assert "comparison" in stage["params"], name
        if name in {"evaluate_video", "evaluate_text", "evaluate_lm"}:
            assert "arms" in stage["params"], "of several arms that enforce the first is held to, by its place"
    studies = {"study", "profiles.${profile}", "arms", "objectives"}
    assert studies <= set(STAGES["evaluate_studies"]["params"]), "a baseline beside is held to them too"
    for name in ("evaluate_video", "evaluate_studies"):
        assert "eps" in STAGES[name]["params"], "every cell is tested at this level, and looks are of it"


def test_paths_that_stages_depend_on_exist_or_are_made_by_another_stage() -> None:
    made = {out for name, item in CASES for out in outputs(name, item)}
    for name, item in CASES:
        for dep in (resolve(dep, item) for dep in STAGES[name]["deps"]):
            by_a_stage = any(out == dep or out.startswith(f"{dep}/") or dep.startswith(f"{out}/") for out in made)
            assert by_a_stage or (ROOT / dep).exists(), (name, dep)


def outputs(name: str, item: dict[str, str]) -> list[str]:
    found = [*STAGES[name].get("outs", []), *STAGES[name].get("metrics", [])]
    return [resolve(out if isinstance(out, str) else next(iter(out)), item) for out in found]


def test_every_parameter_that_a_stage_names_exists_in_every_profile() -> None:
    for profile in VALUES["profiles"]:
        for name, item in CASES:
            for key in STAGES[name].get("params", []):
                lookup(resolve(key.replace("${profile}", profile), item))


def test_outputs_of_different_stages_never_coincide() -> None:
    found = [out for name, item in CASES for out in outputs(name, item)]
    assert len(found) == len(set(found))


def test_git_sees_no_output_of_a_run() -> None:
    kept = {"data/judge.json"}  # of a frozen stage, which must have its output
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/data/*", "/figures/*"} <= set(ignored)
    exceptions = {line[2:].rstrip("/") for line in ignored if line.startswith("!/")}
    for out in {out for name, item in CASES for out in outputs(name, item)} - kept:
        assert not any(out == path or out.startswith(f"{path}/") for path in exceptions), out


def test_imports_go_downwards_and_in_no_circle() -> None:
    order = [
        "errors",
        "schema",
        "io",
        "components",
        "names",
        "study",
        "declared",
        "kept",
        "config",
        "inventory",
        "cells",
        "paths",
        "primal_dual",
        "training",
        "arms",
    ]
    order += ["models", "shifts", "analysis", "runner", "tasks", "inference", "costs", "figures", "report"]
    order += ["published"]
    for file in (SOURCE / "descent").rglob("*.py"):
        parts = file.relative_to(SOURCE / "descent").with_suffix("").parts
        if parts[0] == "__init__" or parts[-1] in ("schema", "problem"):
            continue  # schemas are values' types, and read by config
        for name in imported(file):
            words = name.split(".")
            read = {"schema", "problem"} & set(words) or words[-1] in components.TASKS  # what config reads
            if words[0] == "descent" and len(words) > 1 and words[1] in order and not read:
                assert order.index(words[1]) <= order.index(parts[0]), f"{file} imports {name}"


def test_stage_entries_are_thin() -> None:
    for file in {*(ROOT / "stages").glob("*.py")} - {ROOT / "stages/__init__.py"}:
        assert len(file.read_text().splitlines()) < 40, file
        assert import_module(f"stages.{file.stem}").main


def test_the_folder_that_the_judge_names_is_there_where_no_language_model_is_in_use() -> None:
    """DVC refuses a frozen stage a dependency of which is missing, and with it every `dvc repro`."""
    assert "data/scores/lm" in STAGES["judge"]["deps"] and (ROOT / "data/scores/lm/.gitkeep").exists()


def test_collecting_follows_all_that_it_notes_of_the_parameters() -> None:
    """Else params.json would stay as it was, and publishing would ask for `dvc repro` for ever."""
    follows = {word.partition(".")[0] for word in STAGES["collect"]["params"]}
    noted = json.loads(kept.of_results(PARAMS)).keys() - {"components", "method", "device", "local_data"}
    assert noted == follows
