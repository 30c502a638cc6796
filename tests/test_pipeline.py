"""dvc.yaml says what is true: stages depend on what they import, and every name has its stage and its module."""

import shutil
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from descent import config as params
from descent.runner.fingerprint import closure, entries, file_digest
from descent.tasks.text import items as text

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


SHOWN = {*STAGES["figure"]["matrix"]["name"], *STAGES["table"]["matrix"]["name"], "fig16_completions"}
CASES = [(name, item) for name, stage in STAGES.items() for item in items(stage)]


def imported(name: str, item: dict[str, str]) -> set[str]:
    """The digests that stand for what the stage's process imports, also by computed name."""
    words = resolve(STAGES[name]["cmd"], item).split()
    modules = [words[2]]
    if name in ("figure", "figure_completions", "table"):
        modules.append(f"descent.figures.{words[3]}")
    if name in ("train_video", "evaluate_video", "train_infeasible", "evaluate_infeasible"):
        modules.append(f"descent.models.{words[5]}")
    if name in ("train_text", "evaluate_text", "train_ablation", "evaluate_ablation"):
        modules.append("descent.models.ut_text")  # it imports the encoder too
    return {f"data/code/{module}" for module in modules}


@pytest.mark.parametrize(("name", "item"), CASES, ids=["@".join([n, *i.values()]) for n, i in CASES])
def test_a_stage_depends_on_the_digests_of_all_that_it_imports_and_of_nothing_else(
    name: str, item: dict[str, str]
) -> None:
    declared = {resolve(dep, item) for dep in STAGES[name]["deps"]}
    if name == "code":
        assert declared == {"src/descent", "stages"}
        return
    assert {dep for dep in declared if dep.startswith("data/code/")} == imported(name, item)
    assert {dep.removeprefix("data/code/") for dep in imported(name, item)} <= set(entries())
    # Templates are read, not imported.
    assert all(dep.endswith(".j2") for dep in declared if dep.startswith(("src/", "stages/")))


def test_models_and_figures_are_imported_by_computed_name_nowhere_else() -> None:
    computed = {str(file) for file in Path("src").rglob("*.py") if "import_module(" in file.read_text()}
    assert computed == {
        "src/descent/experiments/video.py",
        "src/descent/experiments/text.py",
        "src/descent/figures/catalogue.py",
    }


def test_the_text_models_are_in_one_closure() -> None:
    files = {path.stem for path in closure(["descent.models.ut_text"])}
    assert {"ut_text", "encoder", "ut", "text"} <= files


def test_a_digest_follows_every_byte_of_what_is_imported_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("src", "stages"):
        shutil.copytree(folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    before = {module: file_digest(module) for module in entries()}
    for changed, hit, spared in (
        ("src/descent/datasets/clips.py", "stages.preprocess_video", "stages.train_video"),
        ("src/descent/figures/curves.py", "descent.figures.fig02_video_robustness", "stages.evaluate_text"),
        ("src/descent/models/encoder.py", "descent.models.ut_text", "descent.models.dust"),
        (
            "src/descent/figures/fig03_depth.py",
            "descent.figures.fig03_depth",
            "descent.figures.fig07_video_descent",
        ),
    ):
        with Path(changed).open("a") as file:
            file.write("# a comment\n")
        after = {module: file_digest(module) for module in entries()}
        assert after[hit] != before[hit] and after[spared] == before[spared]
        before = after


def test_every_figure_and_table_module_has_its_stage_item() -> None:
    modules = {file.stem for file in FIGURES.glob("*.py")} - SHARED
    entered = {name.removeprefix("descent.figures.") for name in entries() if name.startswith("descent.figures.")}
    assert modules == entered
    assert modules == SHOWN


def test_the_report_depends_on_every_figure_and_table() -> None:
    shown = {Path(dep).stem for dep in STAGES["report"]["deps"] if dep.startswith("figures/")}
    assert shown == SHOWN


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
        "descent.models.parts.encoder",
    }


def test_outputs_of_different_stages_never_coincide() -> None:
    outputs = []
    for name, item in CASES:
        for out in STAGES[name].get("outs", []):
            outputs.append(resolve(out if isinstance(out, str) else next(iter(out)), item))
    assert len(outputs) == len(set(outputs))
