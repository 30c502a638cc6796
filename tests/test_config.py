"""What params.yaml says of a cell, a budget and a study, once it is read."""

from pathlib import Path
from typing import Any

import pytest

from descent.cells import Cell, grid, study_cells
from descent.components import TASKS
from descent.config import Params, load
from descent.errors import UserError
from descent.kept import of_results
from descent.schema import validated
from descent.tasks.common.items import budget_of, setting, settings_by_arm
from tests.fakes.core import (
    PARAMS,
    PRIMAL_DUAL,
    small_params,
    small_problem,
    write_params,
)

DUST = "profiles.demo.video.models.dust"
CELL = Cell("video", "ucsd", "dust", "constrained", 3, 0.13, 0)


def test_every_profile_says_all_that_its_models_data_sets_and_studies_need() -> None:
    params = load(PARAMS)
    assert set(params.profiles) == {"demo", "small", "paper"}
    for profile in params.profiles:
        chosen = validated(Params, values_of(params) | {"profile": profile}, "params.yaml")
        assert chosen.budget == chosen.profiles[profile]
        for task in TASKS:
            section = getattr(chosen, task)
            for dataset in section.datasets:
                assert chosen.source(task, dataset) is not None
                for model in section.models:
                    assert chosen.problem(dataset, model).R0 > 0
                    for cell in grid(chosen, task, dataset, model):
                        assert setting(chosen, cell).lr > 0
            for model in section.models:
                assert budget_of(chosen, model).epochs > 0 and settings_by_arm(chosen, model).keys() >= {
                    *chosen.arms
                }
        for name in chosen.studies:
            assert chosen.runs(chosen.studied(name)) and study_cells(chosen, name)


@pytest.mark.parametrize("name", [name for name, own in load(PARAMS).study.items() if own.get("named")])
def test_what_a_study_gives_a_name_to_is_known_to_its_model_and_its_arm(name: str) -> None:
    params = validated(Params, values_of(load(PARAMS)) | {"profile": "small"}, "params.yaml")
    study = params.studied(name)
    cell = Cell(name, study.dataset, study.model, study.arm, study.layers, study.eps, 0)
    for word in study.variants():
        settings_by_arm(params.read_as(study.model, study.reading(word)), study.model)
        assert setting(params, cell, study.replaced(study.arm, word)).lr > 0


def test_a_study_has_what_the_one_that_it_is_like_has_and_its_own_in_place() -> None:
    studies = {"first": {"seeds": [1, 2], "values": [0.1]}, "third": {"values": [0.3]}}
    first = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 2, "eps": 0.1, "arm": "constrained"}
    first |= {"beside": ["unconstrained"], "vary": "alpha", "overrides": {"R0": 2.0}}
    like = {"second": {"like": "first", "layers": 3}, "third": {"like": "second", "overrides": {}, "seeds": [5]}}
    changes = {f"profiles.demo.studies.{name}": own for name, own in studies.items()}
    params = small_params(changes | {f"study.{name}": own for name, own in ({"first": first} | like).items()})
    said = params.studied("first").model_dump()
    assert params.studied("second").model_dump() == said | {"layers": 3}
    # what another study has in a profile stands behind the study's own, wherever that stands
    own = {"layers": 3, "overrides": {}, "seeds": [5], "values": [0.3]}
    assert params.studied("third").model_dump() == said | own


def values_of(params: Params) -> dict[str, Any]:
    return params.model_dump(mode="json")


def test_scientific_notation_is_a_number_and_an_integer_is_a_float(tmp_path: Path) -> None:
    write_params(tmp_path, {"eps": 0})
    text = (tmp_path / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace('"lr": 0.01', '"lr": 1e-2'))
    params = load(tmp_path / "params.yaml")
    assert budget_of(params, "ut").lr == 0.01 and params.eps == 0


LAYERS = [  # of an objective's values, the more special last
    ("objectives.constrained", "warmup_epochs"),
    ("objectives.constrained.models.dust", "restart"),
    ("objectives.constrained.datasets.ucsd.dust", "rho"),
    ("profiles.demo.video.models.dust.arms.constrained", "dual_lr"),
]


def layered(depth: int) -> dict[str, Any]:
    """Changes that give `alpha` in so many of the sections that may replace it."""
    changes: dict[str, Any] = {"objectives.constrained.datasets": {"ucsd": {"dust": {}}}}
    for number, (section, _) in enumerate(LAYERS[:depth], start=1):
        changes[section] = {"alpha": number / 10}
    return changes


def test_of_an_objectives_values_the_more_special_stands_in_place_of_the_more_general() -> None:
    for depth in range(1, 5):
        params = small_params(layered(depth))
        found = params.objective("constrained", "ucsd", "dust")
        assert found["alpha"] == depth / 10, depth
        assert params.problem("ucsd", "dust").alpha == depth / 10
        assert found["R0"] == 0.5 and found["dual_lr"] == 0.05, "all others are kept"
        over = params.objective("constrained", "ucsd", "dust", {"alpha": 0.9})
        assert over == found | {"alpha": 0.9} and params.problem("ucsd", "dust", {"alpha": 0.9}).alpha == 0.9
        assert not {"models", "datasets"} & found.keys()
    everywhere = small_params(layered(4))
    assert everywhere.objective("constrained", "ucsd", "ut")["alpha"] == 0.1, "of another model"
    assert small_params(layered(3)).objective("constrained", "avenue", "dust")["alpha"] == 0.2, (
        "of another data set"
    )
    assert everywhere.objective("unconstrained", "ucsd", "dust") == {}
    assert everywhere.objective("deep_supervision", "ucsd", "dust") == {"weights": "linear"}


def test_a_problem_has_the_values_of_the_objective_without_the_weights_rate() -> None:
    params = small_params({f"{DUST}.arms.constrained": {"lr": 0.7, "dual_lr": 0.3}})
    assert params.problem("ucsd", "dust").model_dump() == PRIMAL_DUAL | {"dual_lr": 0.3}
    assert params.problem("ucsd", "ut") == small_problem(cap_layer=1)
    own = setting(params, CELL)
    assert own.lr == 0.7 and own.values.model_dump() == params.problem("ucsd", "dust").model_dump()
    with pytest.raises(UserError, match="alpha: Input should be less than 1"):
        params.problem("ucsd", "dust", {"alpha": 7.0})


def test_cells_are_held_to_the_constraints_of_ours_or_of_the_first_arm_that_has_any() -> None:
    assert small_params().enforcing == ["constrained"]
    free = {"arms": ["deep_supervision", "unconstrained"], "method": "unconstrained"}
    pair = {"comparison": {"ours": "deep_supervision", "baseline": "unconstrained"}}
    params = small_params(free | pair)
    assert params.enforcing == [] and params.problem("ucsd", "dust") is None
    params = small_params(pair | {"arms": ["deep_supervision", "unconstrained", "constrained"]})
    assert params.problem("ucsd", "dust") == small_problem()


def test_a_studys_cells_are_held_to_what_it_replaces_the_arms_beside_too() -> None:
    study = {"vary": "dual_lr", "overrides": {"alpha": 0.3}, "eps": 0.13, "beside": ["unconstrained"]}
    changes = {"study.infeasible": study, "profiles.demo.studies.infeasible": {"values": [0.2, 0.4]}}
    for arms in (["constrained", "unconstrained"], ["deep_supervision", "unconstrained"]):
        of_grid = {"arms": arms, "method": arms[0], "comparison": {"ours": arms[0], "baseline": arms[1]}}
        params = small_params(changes | of_grid)
        cells = study_cells(params, "infeasible")
        assert {(c.arm, params.held_to(c).alpha, params.held_to(c).dual_lr) for c in cells} == {
            ("unconstrained", 0.3, small_problem().dual_lr),
            ("constrained", 0.3, 0.2),
            ("constrained", 0.3, 0.4),
        }


def test_an_arms_cells_have_a_models_values_with_their_own_in_place_of_them() -> None:
    params = small_params({"models.dust": {"arms": {"constrained": {"kappa": 0.5, "threshold": 0.3}}}})
    common = {
        "dictionaries": "shared",
        "attention": "dictionary",
        "step_scale": 1.5,
        "threshold": 0.01,
        "kappa": 1.0,
    }
    assert params.model_settings("dust", "constrained") == common | {"kappa": 0.5, "threshold": 0.3}
    assert params.model_settings("dust", "unconstrained") == params.model_settings("dust", "new") == common
    assert params.models["dust"]["arms"], "the parameters themselves stay as they are"


def test_a_models_budget_is_its_tasks_with_its_own_in_place_of_it() -> None:
    params = small_params({f"{DUST}.epochs": 9, f"{DUST}.layers": [5]})
    dust, ut = (params.model_budget(model) for model in ("dust", "ut"))
    assert (dust["epochs"], dust["layers"], dust["batch"]) == (9, [5], 7)
    assert (ut["epochs"], ut["layers"], ut["batch"]) == (4, [2, 3], 7)
    assert not {"eps", "seeds", "models"} & ut.keys()


def test_what_is_empty_leaves_its_part_out() -> None:
    empty = {"video.datasets": [], "video.models": [], "text.datasets": [], "lm.models": [], "studies": []}
    params = small_params(empty)
    assert params.video.datasets == [] and params.studies == [] and params.arms
    assert not params.runs(params.studied("infeasible")) and study_cells(params, "infeasible") == []
    study = small_params({"video.datasets": ["avenue"]})
    assert not study.runs(study.studied("infeasible")), "another data set is in use"
    assert small_params().runs(small_params().studied("infeasible"))


def test_a_study_varies_one_value_of_its_overrides() -> None:
    varied = {"study.infeasible": {"vary": "rho", "overrides": {"alpha": 0.3}}}
    params = small_params(varied | {"profiles.demo.studies.infeasible": {"values": [2.0, 5], "seeds": [1, 2]}})
    study = params.studied("infeasible")
    assert study.variants() == {"2.0": {"alpha": 0.3, "rho": 2.0}, "5.0": {"alpha": 0.3, "rho": 5.0}}
    assert small_params().studied("infeasible").variants() == {
        "": {"alpha": 0.9, "R0": 0.01, "resilience": "none"}
    }
    cells = study_cells(params, "infeasible")
    assert [(cell.arm, cell.varied, cell.seed) for cell in cells] == [
        (arm, word, seed)
        for seed in (1, 2)
        for arm, word in (("unconstrained", ""), ("constrained", "2.0"), ("constrained", "5.0"))
    ]
    words = {
        "study.infeasible": {"vary": "resilience"},
        "profiles.demo.studies.infeasible": {"values": ["none", "decay"]},
    }
    assert [*small_params(words).studied("infeasible").variants()] == ["none", "decay"]


def test_parameters_do_not_change_once_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        small_params().video.tolerance = 0.5


def test_the_parameters_of_the_results_are_read_back_without_what_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked, path = load(PARAMS), Path("data/params.json")
    path.parent.mkdir()
    path.write_text(of_results(asked))
    found = load(path)
    assert found.method == asked.arms[0]
    same = {"method", "device", "local_data", "profiles", "executor", "gpu_share", "ray"}
    assert found.model_dump(mode="json", exclude=same) == asked.model_dump(mode="json", exclude=same)
    assert found.profiles == {asked.profile: asked.budget}
    elsewhere = asked.model_copy(update={"method": "unconstrained", "device": "cpu", "local_data": "/elsewhere"})
    assert of_results(elsewhere) == path.read_text()
