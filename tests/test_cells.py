"""What cells a matrix item has, in which order, and under which names."""

import subprocess
import sys
from pathlib import Path

import pytest

from descent import paths
from descent.cells import Cell, fingerprint, grid, reference_cells, study_cells
from descent.config import Params
from descent.errors import UserError
from tests.fakes.results import fake_params

SETTING = ("ucsd", "dust")
ITEM = (*SETTING, "constrained")


def asked(layers: list, seeds: list, eps: list, headline: float) -> Params:
    where = "profiles.demo.video"
    return fake_params({f"{where}.layers": layers, f"{where}.seeds": seeds, f"{where}.eps": eps, "eps": headline})


def identities(params: Params) -> list[tuple]:
    cells = [cell for cell in grid(params, "video", *SETTING) if cell.arm == "constrained"]
    return [(cell.layers, cell.seed, cell.eps) for cell in cells]


def test_cells_are_arms_by_layers_by_seeds_by_noise_levels_deepest_last() -> None:
    params = asked([5, 2], [7, 1], [0.5, 0.0], 0.3)
    expected = [(layers, seed, eps) for layers in (2, 5) for seed in (1, 7) for eps in (0.0, 0.3, 0.5)]
    assert identities(params) == expected
    cells = grid(params, "video", *SETTING)
    assert [cell.arm for cell in cells] == [arm for arm in params.arms for _ in expected]
    assert {(cell.experiment, cell.dataset, cell.model) for cell in cells} == {("video", *SETTING)}


@pytest.mark.parametrize("eps", [0.13, 0.130, 1.3e-1])
def test_the_headline_level_joins_the_grid_once(eps: float) -> None:
    assert identities(asked([2], [0], [0.13, 0.0, 0.13], eps)) == [(2, 0, 0.0), (2, 0, 0.13)]
    assert identities(asked([2], [0], [0.0], 0.2))[1] == (2, 0, 0.2)


def test_whole_numbers_and_floats_are_one_level() -> None:
    params = asked([2], [0], [0.0, 1], 0)
    assert identities(params) == [(2, 0, 0.0), (2, 0, 1.0)]
    assert all(isinstance(cell.eps, float) for cell in grid(params, "video", *SETTING))


def test_a_models_own_depths_and_a_tasks_own_headline_level_count() -> None:
    params = fake_params({"profiles.demo.lm.eps": [0.0]})
    cells = grid(params, "lm", "alpaca", "causal_lm")
    assert [(cell.layers, cell.eps) for cell in cells] == [(4, 0.0), (4, 0.25)] * len(params.arms)
    assert {cell.layers for cell in grid(params, "text", "imdb", "roberta")} == {8}


def test_names_and_folders_say_what_is_in_them() -> None:
    cell = Cell("video", *ITEM, layers=3, eps=0.13, seed=2)
    assert cell.name == "constrained-L3-eps0.13-seed2"
    assert Cell("alpha", *ITEM, 3, 0.13, 2, "0.1").name == "constrained-L3-eps0.13-seed2-0.1"
    params = fake_params()
    assert paths.runs_folder("video", *SETTING) == Path("data/runs/video/ucsd/dust")
    assert paths.scores_file("video", "ucsd") == Path("data/scores/video/ucsd.parquet")
    assert paths.study_runs_folder("alpha") == Path("data/runs/study/alpha")
    assert paths.study_scores_file("alpha") == Path("data/scores/study/alpha.parquet")
    assert paths.prepared_folder(params, "video", *SETTING) == Path("data/prepared/ucsd")
    assert paths.prepared_folder(params, "text", "imdb", "distilbert") == Path("data/prepared/imdb/bert")


def test_different_cells_of_a_folder_have_different_names() -> None:
    params = fake_params({"eps": 0.1234567, "profiles.demo.video.eps": [0.1234568]})
    for cells in (grid(params, "video", *SETTING), *(study_cells(params, name) for name in params.studies)):
        assert len({cell.name for cell in cells}) == len(cells) > 1


def test_a_study_has_the_arms_beside_it_and_every_value_of_what_it_varies() -> None:
    cells = study_cells(fake_params(), "alpha")
    values = [("unconstrained", ""), *(("constrained", word) for word in ("0.02", "0.1", "0.2"))]
    assert [(cell.seed, cell.arm, cell.varied) for cell in cells] == [(s, *v) for s in (0, 1, 2) for v in values]
    assert {(c.experiment, c.dataset, c.model, c.layers, c.eps) for c in cells} == {
        ("alpha", "imdb", "roberta", 8, 0.4)
    }


def test_a_study_that_varies_nothing_is_one_cell_in_each_arm() -> None:
    cells = study_cells(fake_params(), "infeasible")
    where = {"experiment": "infeasible", "dataset": "shanghaitech", "model": "dust"}
    assert cells == [
        Cell(**where, arm=arm, layers=7, eps=0.15, seed=0) for arm in ("unconstrained", "constrained")
    ]


@pytest.mark.parametrize("lists", [{"text.datasets": ["mnli"]}, {"text.models": ["ut_text"]}, {"text.models": []}])
def test_a_study_whose_data_set_or_model_is_not_in_use_has_no_cells(lists: dict) -> None:
    assert study_cells(fake_params(lists), "alpha") == []


def test_the_maps_that_learn_nothing_are_cells_of_a_model_without_layers() -> None:
    params = fake_params()
    cells = reference_cells(params, *SETTING)
    assert [cell.arm for cell in cells] == ["identity", "zero", "frame_mean", "tv_chambolle", "nl_means"]
    assert "frame_mean" not in [cell.arm for cell in reference_cells(params, "ucsd", "vit")], "single frames"
    assert {(cell.experiment, cell.model, cell.layers, cell.eps) for cell in cells} == {("video", "dust", 0, 0.0)}


def test_the_identity_of_cells_needs_no_torch_and_no_tables() -> None:
    code = "import sys, descent.cells, descent.paths; print({'torch', 'pandas'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": "src"})
    assert told.stdout.strip() == "set()", told.stderr


def test_a_fingerprint_depends_on_the_cell_and_on_its_definition() -> None:
    cell = Cell("video", *ITEM, layers=3, eps=0.13, seed=2)
    others = [
        fingerprint(Cell("video", *ITEM, layers=3, eps=0.13, seed=3), {"lr": 1.0}),
        fingerprint(Cell("video", "ucsd", "dust", "unconstrained", layers=3, eps=0.13, seed=2), {"lr": 1.0}),
        fingerprint(cell, {"lr": 2.0}),
        fingerprint(cell, {"lr": 1.0, "more": None}),
    ]
    first = fingerprint(cell, {"a": 1, "lr": 1.0})
    assert first == fingerprint(cell, {"lr": 1.0, "a": 1})
    assert len({first, *others}) == 5 and all(len(name) == 32 for name in others)


def test_why_a_cell_is_trained_is_not_in_its_fingerprint() -> None:
    places = [("text", ""), ("alpha", "0.1"), ("dual_lr", "0.01"), ("resilience", "decay")]
    cells = [Cell(experiment, *ITEM, layers=3, eps=0.4, seed=0, varied=value) for experiment, value in places]
    assert len({fingerprint(cell, {"alpha": 0.1}) for cell in cells}) == 1
    assert len(set(cells)) == 4


@pytest.mark.parametrize("of_study", [False, True])
def test_a_model_without_depths_is_one_sentence_that_names_the_place(of_study: bool) -> None:
    """Of texts and of the language model each budget has its own; a study without `layers` asks for them too."""
    params = fake_params({"study.alpha.layers": None, "study.alpha.model": "ut_text"})
    budgets = params.budget.text.models
    without = {"ut_text": {name: value for name, value in budgets["ut_text"].items() if name != "layers"}}
    text = params.budget.text.model_copy(update={"models": budgets | without})
    profiles = params.profiles | {"demo": params.budget.model_copy(update={"text": text})}
    lacking = params.model_copy(update={"profiles": profiles})
    with pytest.raises(UserError, match=r"profiles\.demo\.text\.models\.ut_text: layers is missing"):
        study_cells(lacking, "alpha") if of_study else grid(lacking, "text", "imdb", "ut_text")
