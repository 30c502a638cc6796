"""dvc.yaml says what is true: dependencies cover imports exactly, and every name has its stage and its module."""

from importlib import import_module
from itertools import product
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from descent import params
from descent.closure import closure
from descent.experiments import text

YAML_FILE = YAML(typ="safe").load(Path("dvc.yaml"))
STAGES, VALUES = YAML_FILE["stages"], YAML(typ="safe").load(Path("params.yaml"))
FIGURES = Path("src/descent/figures")
SHARED = {"__init__", "ablations", "catalogue", "curves", "style", "tables", "text_curves"}


def lookup(path: str) -> object:
    """The value of `a.b.c` in params.yaml."""
    node = VALUES
    for key in path.split("."):
        node = node[key]
    return node


def resolve(text: str, item: dict[str, str]) -> str:
    """A templated string of dvc.yaml for one matrix item."""
    for key, value in item.items():
        text = text.replace(f"${{item.{key}}}", value)
    while "${" in text:
        path = text[text.index("${") + 2 : text.index("}")]
        text = text.replace(f"${{{path}}}", str(lookup(path)))
    return text


def items(stage: dict) -> list[dict[str, str]]:
    """All matrix items of a stage; one empty item where there is no matrix."""
    axes = {
        name: lookup(axis.strip("${}")) if isinstance(axis, str) else axis
        for name, axis in stage.get("matrix", {}).items()
    }
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


CASES = [(name, item) for name, stage in STAGES.items() for item in items(stage)]


def imported(name: str, item: dict[str, str]) -> set[str]:
    """Our own files that the stage's process imports; models and figures are imported by computed name."""
    words = resolve(STAGES[name]["cmd"], item).split()
    modules = [words[2]]
    if name in ("figure", "table"):
        modules.append(f"descent.figures.{words[3]}")
    if name in ("train_video", "evaluate_video", "train_infeasible", "evaluate_infeasible"):
        modules.append(f"descent.models.{words[5]}")
    if name in ("train_text", "evaluate_text", "train_ablation", "evaluate_ablation"):
        modules.append("descent.models.ut_text")  # it may read its embeddings from an encoder
    return {str(path) for path in closure(modules) if path.name != "__init__.py"}


def covers(dep: str, file: str) -> bool:
    """Whether a dependency is this file or a folder above it."""
    return file == dep or file.startswith(f"{dep}/")


def code_dependencies(name: str, item: dict[str, str]) -> list[str]:
    """The declared dependencies that are source code; templates of pages are read, not imported."""
    declared = [resolve(dep, item) for dep in STAGES[name]["deps"]]
    return [dep for dep in declared if dep.startswith(("src/", "stages/")) and not dep.endswith(".j2")]


@pytest.mark.parametrize(("name", "item"), CASES, ids=["@".join([n, *i.values()]) for n, i in CASES])
def test_a_stage_depends_on_all_that_it_imports(name: str, item: dict[str, str]) -> None:
    declared = code_dependencies(name, item)
    assert [file for file in imported(name, item) if not any(covers(dep, file) for dep in declared)] == []


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_no_code_that_none_of_its_items_imports(name: str) -> None:
    needed = set().union(*(imported(name, item) for item in items(STAGES[name])))
    declared = {dep for item in items(STAGES[name]) for dep in code_dependencies(name, item)}
    assert [dep for dep in declared if not any(covers(dep, file) for file in needed)] == []


def test_every_figure_and_table_module_has_its_stage_item() -> None:
    modules = {file.stem for file in FIGURES.glob("*.py")} - SHARED
    assert modules == set(STAGES["figure"]["matrix"]["name"]) | set(STAGES["table"]["matrix"]["name"])


def test_the_report_depends_on_every_figure_and_table() -> None:
    shown = {Path(dep).stem for dep in STAGES["report"]["deps"] if dep.startswith("figures/")}
    assert shown == set(STAGES["figure"]["matrix"]["name"]) | set(STAGES["table"]["matrix"]["name"])


def test_every_parameter_that_a_stage_names_exists_in_every_profile() -> None:
    for profile in VALUES["profiles"]:
        for name, item in CASES:
            for key in STAGES[name].get("params", []):
                lookup(resolve(key.replace("${profile}", profile), item))


def test_every_model_of_params_is_a_module_that_builds() -> None:
    for name in params.load().video.models:
        module = import_module(f"descent.models.{name}")
        assert callable(module.build) and callable(module.width)
    assert {text.module(name).__name__ for name in params.load().text.models} == {
        "descent.models.ut_text",
        "descent.models.encoder",
    }


def test_outputs_of_different_stages_never_coincide() -> None:
    outputs = []
    for name, item in CASES:
        for out in STAGES[name].get("outs", []):
            outputs.append(resolve(out if isinstance(out, str) else next(iter(out)), item))
    assert len(outputs) == len(set(outputs))
