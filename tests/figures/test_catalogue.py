"""The catalogue is whole: every name has its module, its stage item, its outputs and its place on the page."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from descent.errors import UserError
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
NAMES = catalogue.names()
CHOSEN = {"DATASET", "MODEL", "DATASETS", "MODELS"}  # which setting of the paper one figure shows
ENDINGS = {"figure": ("pdf", "png"), "table": ("tex", "md", "csv")}


def test_the_catalogue_holds_every_figure_and_table_of_the_paper_and_its_parts_are_the_stages_items() -> None:
    papers = [name for name in NAMES if name.removeprefix("fig").removeprefix("table")[0].isdigit()]
    assert papers == [*FIGURES, *TABLES]
    parts = {catalogue.part(catalogue.module(name)) for name in NAMES}
    assert parts == set(STAGES["figures"]["matrix"]["part"])
    assert sorted(name for part in parts for name in catalogue.names(part)) == NAMES


def test_what_reads_frames_or_texts_of_a_data_set_says_so_and_is_never_published() -> None:
    """People can be recognised in frames, and texts are not ours."""
    reads = {"TEXTS", "looks"}
    for name in NAMES:
        tree = ast.parse(Path(catalogue.module(name).__file__).read_text())
        used = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert bool(used & reads) == getattr(catalogue.module(name), "SINGLE_INPUTS", False), name


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_its_module_and_is_beyond_the_paper_where_it_has_no_number(name: str) -> None:
    module = catalogue.module(name)
    assert module.TITLE and module.CAPTION.strip() and module.PARAMETERS and catalogue.name(module) == name
    assert (catalogue.part(module) == "beyond") is (name not in [*FIGURES, *TABLES])
    assert hasattr(module, {"figure": "render", "table": "build"}[catalogue.kind(module)])


def test_the_page_has_a_place_for_each_in_the_papers_order(tmp_path: Path) -> None:
    for entry in map(catalogue.module, reversed(NAMES)):
        name, kind, part = catalogue.name(entry), catalogue.kind(entry), catalogue.part(entry)
        sidecar = {"name": name, "kind": kind, "part": part, "profile": "demo", "rows": [["word"]]}
        (tmp_path / part).mkdir(exist_ok=True)
        (tmp_path / part / f"{name}.json").write_text(json.dumps(sidecar))
        for ending in ENDINGS[kind]:
            (tmp_path / part / f"{name}.{ending}").write_bytes(b"")
    assert [entry["name"] for entry in report.entries(tmp_path, tmp_path)] == NAMES
    assert [report.label(name) for name in ("fig03_depth", "table4_text_auc")] == ["Figure 3", "Table 4"]
    assert [report.label(name) for name in ("fig_theory", "table_theory")] == ["Figure (ours)", "Table (ours)"]


def test_what_the_page_says_made_it_is_what_makes_it() -> None:
    params = fake_params()
    for name in NAMES:
        entry = catalogue.module(name)
        made_by = catalogue.sidecar(entry, params)["made_by"]
        assert made_by["stage"] == f"figures@{catalogue.part(entry)}"
        assert Path(made_by["module"]).resolve() == Path(entry.__file__).resolve()


@pytest.mark.parametrize("name", NAMES)
def test_sidecars_hold_the_values_of_their_parameters(name: str) -> None:
    params, entry = fake_params(), catalogue.module(name)
    why = catalogue.left_out(entry, params)
    found = catalogue.sidecar(entry, params, why)
    assert found["name"] == name and found["profile"] == "demo" and found["left_out"] == why
    assert found["synthetic"] is not bool(why), "made, of generated data"
    asked = [key for key in entry.PARAMETERS if catalogue.CONTROLS not in key]
    assert len(found["parameters"]) >= len(asked), "one of them is not in params.yaml"
    assert not any("$" in key for key in found["parameters"])
    if "objectives.constrained" in found["parameters"]:
        assert found["parameters"]["objectives.constrained"] == params.objectives["constrained"]
    assert json.loads(json.dumps(found)) == found
    assert "\n" not in found["caption"] and len(found["caption"]) > 80


def test_what_is_asked_of_a_part_is_of_it() -> None:
    assert catalogue.chosen("lm", ["fig16_completions"]) == ["fig16_completions"]
    assert catalogue.chosen("lm", []) == catalogue.names("lm")
    with pytest.raises(UserError, match="part lm has no figure or table 'fig_forest'; known: fig06_causal_lm, "):
        catalogue.chosen("lm", ["fig06_causal_lm", "fig_forest"])


LEFT_OUT = "what other test items would change is not in it"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *((name, LEFT_OUT) for name in ("fig_shifts", "fig_text_shifts", "fig_lm_shifts", "table_shifts")),
        ("fig_transfer", LEFT_OUT),
        ("fig_kinds", LEFT_OUT),
        ("fig_early_exit", "is not counted: the embedding, and the"),
    ],
)
def test_a_caption_says_what_an_interval_or_an_axis_leaves_out(name: str, told: str) -> None:
    assert told in catalogue.sidecar(catalogue.module(name), fake_params())["caption"]


def test_a_parameter_that_is_not_there_is_not_shown() -> None:
    entry = catalogue.module("fig07_video_descent")
    plain = fake_params(
        arms=["replay", "constrained"], method="replay", comparison={"ours": "replay", "baseline": "constrained"}
    )
    found = catalogue.parameters(entry, plain)
    assert found and "objectives.replay" not in found


@pytest.mark.parametrize("path", sorted(catalogue.SOURCES.rglob("*.py")), ids=lambda path: path.stem)
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
    names = [catalogue.module(name).__name__ for name in NAMES] + ["stages.figures"]
    code = f"import sys, importlib; sys.path.insert(0, 'src'); [importlib.import_module(n) for n in {names}]"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
