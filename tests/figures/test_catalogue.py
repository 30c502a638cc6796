"""The catalogue is whole: every name has its module, its stage item, its outputs and its place on the page."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from descent.figures.parts import catalogue
from descent.report import page as report
from tests.fakes.results import fake_params

STAGES = YAML(typ="safe").load(Path("dvc.yaml"))["stages"]
FIGURES = [
    "fig01_layerwise_descent",
    "fig02_video_robustness",
    "fig03_depth",
    "fig04_text_robustness",
    "fig05_step_size",
    "fig06_causal_lm",
    "fig07_video_descent",
    "fig08_video_tradeoffs",
    "fig09_training_noise",
    "fig10_mnli_robustness",
    "fig11_infeasible",
    "fig12_layer_ratios",
    "fig13_all_descents",
    "fig14_alpha_ablation",
    "fig15_dual_lr_ablation",
    "fig16_completions",
]
TABLES = [
    "table1_video_hyperparameters",
    "table2_text_hyperparameters",
    "table3_video_rmse",
    "table4_text_auc",
    "table5_lm_hyperparameters",
]
OURS = ["attention", "confidence", "controls", "dictionary", "early_exit", "forest", "frames", "lens", "shifts"]
OURS += ["theory", "training"]
KINDS = {name: "figure" for name in [*FIGURES, *(f"fig_{name}" for name in OURS)]} | {
    name: "table" for name in [*TABLES, "table_ladder", "table_solver", "table_theory"]
}
CHOSEN = {"DATASET", "MODEL", "DATASETS", "MODELS"}  # which setting of the paper one figure shows
ENDINGS = {"figure": ("pdf", "png"), "table": ("tex", "md", "csv")}


@pytest.mark.parametrize("name", KINDS)
def test_a_name_has_its_module_and_its_outputs(name: str) -> None:
    kind = KINDS[name]
    module = catalogue.module(name, kind)
    assert module.TITLE and module.CAPTION.strip() and module.PARAMETERS
    outputs = {out.replace("${item.name}", name) for out in STAGES[kind]["outs"]}
    assert outputs == {f"figures/{name}.{ending}" for ending in ENDINGS[kind]} | {f"data/shown/{name}.json"}


def test_each_and_nothing_else_is_an_item_of_its_stage() -> None:
    for kind in ENDINGS:
        assert STAGES[kind]["matrix"]["name"] == [name for name, own in KINDS.items() if own == kind]


def test_the_page_has_a_place_for_each_in_the_papers_order(tmp_path: Path) -> None:
    for name, kind in reversed(KINDS.items()):
        sidecar = {"name": name, "kind": kind, "profile": "demo", "rows": [["word"]]}
        (tmp_path / f"{name}.json").write_text(json.dumps(sidecar))
        for ending in ENDINGS[kind]:
            (tmp_path / f"{name}.{ending}").write_bytes(b"")
    assert [entry["name"] for entry in report.entries(tmp_path, tmp_path)] == list(KINDS)
    assert [report.label(name) for name in ("fig03_depth", "table4_text_auc")] == ["Figure 3", "Table 4"]
    assert [report.label(name) for name in ("fig_theory", "table_theory")] == ["Figure (ours)", "Table (ours)"]


def test_what_the_page_says_made_it_is_what_makes_it() -> None:
    params = fake_params()
    for kind in ENDINGS:
        for name in STAGES[kind]["matrix"]["name"]:
            made_by = catalogue.sidecar(catalogue.module(name, kind), kind, params)["made_by"]
            assert made_by == {"stage": f"{kind}@{name}", "module": f"src/descent/figures/{name}.py"}
            assert Path(made_by["module"]).is_file()


def test_the_catalogue_is_the_folder() -> None:
    found = {path.stem for path in catalogue.FOLDER.glob("*.py") if path.stem != "__init__"}
    assert found == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_sidecars_hold_the_values_of_their_parameters(name: str) -> None:
    params, entry = fake_params(), catalogue.module(name, KINDS[name])
    found = catalogue.sidecar(entry, KINDS[name], params)
    assert found["name"] == name and found["profile"] == "demo"
    assert found["synthetic"] is not bool(catalogue.left_out(entry, params)), "made, of generated data"
    assert len(found["parameters"]) == len(entry.PARAMETERS), "one of them is not in params.yaml"
    assert not any("$" in key for key in found["parameters"])
    if "objectives.constrained" in found["parameters"]:
        assert found["parameters"]["objectives.constrained"] == params.objectives["constrained"]
    assert json.loads(json.dumps(found)) == found
    assert "\n" not in found["caption"] and len(found["caption"]) > 80


def test_a_parameter_that_is_not_there_is_not_shown() -> None:
    entry = catalogue.module("fig07_video_descent", "figure")
    plain = fake_params(comparison={"ours": "unconstrained", "baseline": "constrained"})
    assert "objectives.unconstrained" not in catalogue.parameters(entry, plain)


@pytest.mark.parametrize("path", sorted(catalogue.FOLDER.rglob("*.py")), ids=lambda path: path.stem)
def test_no_figure_names_an_arm_a_model_a_shift_or_a_data_set(path: Path) -> None:
    names = {name for place in fake_params().components.values() for name in place}
    tree = ast.parse(path.read_text())
    allowed = {id(word) for node in tree.body if _targets(node) & CHOSEN for word in ast.walk(node)}
    words = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in allowed]
    assert [word.value for word in words if word.value in names] == []


def _targets(node: ast.stmt) -> set[str]:
    named = [name for target in getattr(node, "targets", []) for name in ast.walk(target)]
    return {name.id for name in named if isinstance(name, ast.Name)}


def test_figures_never_import_torch() -> None:
    names = [f"descent.figures.{name}" for name in KINDS]
    names += ["stages.figure", "stages.table"]
    code = f"import sys, importlib; sys.path.insert(0, 'src'); [importlib.import_module(n) for n in {names}]"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
