"""What cells a matrix item has, in which order, and under which names."""

from pathlib import Path

import pytest

from descent.cells import Cell, fingerprint, infeasible_cells, runs_folder, scores_file, video_cells
from descent.config import Params
from descent.errors import UserError
from descent.tasks.video.items import check_names
from tests.fakes.core import small_params

BUDGET = "profiles.demo.video"
ITEM = ("ucsd", "dust", "constrained")


def identities(params: Params) -> list[tuple]:
    return [(cell.layers, cell.seed, cell.eps) for cell in video_cells(params, *ITEM)]


def test_cells_are_layers_by_seeds_by_noise_levels_deepest_last() -> None:
    params = small_params({"eps": 0.3, BUDGET: {"layers": [5, 2], "seeds": [7, 1], "eps": [0.5, 0.0]}})
    expected = [(layers, seed, eps) for layers in (2, 5) for seed in (1, 7) for eps in (0.0, 0.3, 0.5)]
    assert identities(params) == expected
    assert {(c.experiment, c.dataset, c.model, c.method) for c in video_cells(params, *ITEM)} == {("video", *ITEM)}


@pytest.mark.parametrize("eps", [0.13, 0.130, 1.3e-1])
def test_the_headline_level_joins_the_grid_once(eps: float) -> None:
    params = small_params({"eps": eps, BUDGET: {"layers": [2], "eps": [0.13, 0.0, 0.13]}})
    assert identities(params) == [(2, 0, 0.0), (2, 0, 0.13)]
    assert identities(small_params({"eps": 0.2, BUDGET: {"layers": [2], "eps": [0.0]}}))[1] == (2, 0, 0.2)


def test_whole_numbers_and_floats_are_one_level() -> None:
    params = small_params({"eps": 0, BUDGET: {"layers": [2, 2], "seeds": [0, 0], "eps": [0.0, 1]}})
    assert identities(params) == [(2, 0, 0.0), (2, 0, 1.0)]
    assert all(isinstance(cell.eps, float) for cell in video_cells(params, *ITEM))


def test_names_and_folders_say_what_is_in_them() -> None:
    cell = Cell("video", *ITEM, layers=3, eps=0.13, seed=2)
    assert cell.name == "L3-eps0.13-seed2"
    assert runs_folder("video", *ITEM) == Path("data/runs/video/ucsd-dust-constrained")
    assert scores_file("video", *ITEM) == Path("data/scores/video/ucsd-dust-constrained.parquet")


def test_different_cells_have_different_names() -> None:
    params = small_params({"eps": 0.1234567, BUDGET: {"eps": [0.1234568]}})
    asked = video_cells(params, *ITEM)
    assert len({cell.name for cell in asked}) == len(asked)


def test_the_infeasible_experiment_is_one_cell_in_each_arm() -> None:
    params = small_params({"infeasible": {"layers": 3, "eps": 0.3, "seed": 4}})
    for method in ("constrained", "unconstrained"):
        (cell,) = infeasible_cells(params, "ucsd", "dust", method)
        assert cell == Cell("infeasible", "ucsd", "dust", method, 3, 0.3, 4)


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("vidoe", *ITEM), "unknown name 'vidoe'; known: video, infeasible"),
        (("video", "ped3", "dust", "constrained"), "unknown name 'ped3'; known: avenue, ucsd"),
        (("video", "ucsd", "vti", "constrained"), "unknown name 'vti'; known: ut, dust, vit"),
        (("video", "ucsd", "dust", "erm"), "unknown name 'erm'; known: constrained, unconstrained"),
    ],
)
def test_an_unknown_matrix_item_is_told(words: tuple[str, str, str, str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        check_names(small_params(), *words)
