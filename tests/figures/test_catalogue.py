"""The catalogue is whole: every name has its module, its stage item, its outputs and its place on the page."""

import json
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
KINDS = {name: "figure" for name in [*FIGURES, "fig_theory"]} | {
    name: "table" for name in [*TABLES, "table_theory"]
}
ENDINGS = {"figure": ("pdf", "png"), "table": ("tex", "md", "csv")}


@pytest.mark.parametrize("name", KINDS)
def test_a_name_has_its_module_its_stage_item_and_its_outputs(name: str) -> None:
    kind = KINDS[name]
    module = catalogue.module(name, kind)
    assert module.TITLE and module.CAPTION.strip() and module.PARAMETERS
    stage = STAGES["figure_completions" if name == "fig16_completions" else kind]
    assert name in stage.get("matrix", {"name": [name]})["name"]
    outputs = {next(iter(out)).replace("${item.name}", name) for out in stage["outs"]}
    assert outputs == {f"figures/{name}.{ending}" for ending in (*ENDINGS[kind], "json")}
    shown = {f"figures/{name}.json"} | ({f"figures/{name}.png"} if kind == "figure" else set())
    assert shown <= set(STAGES["report"]["deps"])


def test_nothing_else_is_in_the_catalogue() -> None:
    for kind in ENDINGS:
        assert set(STAGES[kind]["matrix"]["name"]) <= {name for name, own in KINDS.items() if own == kind}


def test_the_page_has_a_place_for_each_in_the_papers_order(tmp_path: Path) -> None:
    for name, kind in reversed(KINDS.items()):
        sidecar = {"name": name, "kind": kind, "profile": "demo", "rows": [["word"]]}
        (tmp_path / f"{name}.json").write_text(json.dumps(sidecar))
        for ending in ENDINGS[kind]:
            (tmp_path / f"{name}.{ending}").write_bytes(b"")
    assert [entry["name"] for entry in report.entries(tmp_path)] == list(KINDS)
    assert [report.label(name) for name in ("fig03_depth", "table4_text_auc")] == ["Figure 3", "Table 4"]
    assert [report.label(name) for name in ("fig_theory", "table_theory")] == ["Figure (ours)", "Table (ours)"]


def test_what_the_page_says_made_it_is_what_makes_it() -> None:
    params = fake_params()
    for kind in ENDINGS:
        for name in STAGES[kind]["matrix"]["name"]:
            made_by = catalogue.sidecar(catalogue.module(name, kind), kind, params)["made_by"]
            assert made_by == {"stage": f"{kind}@{name}", "module": f"src/descent/figures/{name}.py"}
            assert Path(made_by["module"]).is_file()
