"""params.yaml is read strictly: whatever is wrong ends in one message that names where and what is allowed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from descent.config import Params, load, of_results
from descent.errors import UserError
from tests.fakes.core import ROOT, environment, make_project, small_params, values, write_params

BUDGET = "profiles.demo.video"
URL = {"url": "http://example.org/a.zip"}


def refused(folder: Path, text: str | None = None, changes: dict[str, Any] | None = None) -> str:
    if text is None:
        write_params(folder, changes)
    else:
        (folder / "params.yaml").write_text(text)
    with pytest.raises(UserError) as error:
        load(folder / "params.yaml")
    return str(error.value)


def test_the_projects_own_file_loads_in_every_profile() -> None:
    params = load(ROOT / "params.yaml")
    assert set(params.profiles) == {"demo", "small", "paper"}
    for profile in params.profiles:
        chosen = Params.model_validate(params.model_dump() | {"profile": profile})
        assert chosen.budget is chosen.profiles[profile]
        assert set(params.video.datasets) <= set(chosen.budget.data)
        for model in params.video.models:
            assert chosen.constraints(model).R0 > 0


@pytest.mark.parametrize(
    ("changes", "path", "told"),
    [
        ({"gamma": 1.0}, "gamma", "unknown key"),
        ({"video.frame.colour": True}, "video.frame.colour", "unknown key"),
        ({"primal_dual.ut.rho2": 1.0}, "primal_dual.ut.rho2", "unknown key"),
        ({"eps": "0.13"}, "eps", "number"),
        ({f"{BUDGET}.ut.lr": "1e-3"}, f"{BUDGET}.ut.lr", "number"),
        ({"eps": True}, "eps", "number"),
        ({f"{BUDGET}.batch": True}, f"{BUDGET}.batch", "integer"),
        ({f"{BUDGET}.epochs": 2.5}, f"{BUDGET}.epochs", "integer"),
        ({"models.ut.residual": 1}, "models.ut.residual", "boolean"),
        ({"models.ut.residual": "true"}, "models.ut.residual", "boolean"),
        ({f"{BUDGET}.layers": 3}, f"{BUDGET}.layers", "array"),
        ({"video": None}, "video", "object"),
        ({f"{BUDGET}.eps": []}, f"{BUDGET}.eps", "at least 1 item"),
        ({"evaluation.gammas": []}, "evaluation.gammas", "at least 1 item"),
        ({"video.datasets": []}, "video.datasets", "at least 1 item"),
        ({"eps": -0.1}, "eps", "greater than or equal to 0"),
        ({f"{BUDGET}.eps": [0.0, -0.1]}, f"{BUDGET}.eps.1", "greater than or equal to 0"),
        ({"eps": float("nan")}, "eps", "finite number"),
        ({"primal_dual.dust.rho": float("inf")}, "primal_dual.dust.rho", "finite number"),
        ({"primal_dual.dust.alpha": 1.0}, "primal_dual.dust.alpha", "less than 1"),
        ({f"{BUDGET}.tokens": 1}, f"{BUDGET}.tokens", "greater than or equal to 2"),
        ({f"{BUDGET}.dust.lr": 0}, f"{BUDGET}.dust.lr", "greater than 0"),
        ({"method": "constrain"}, "method", "'constrained' or 'unconstrained'"),
        ({"device": "gpu"}, "device", "'auto', 'cpu' or 'cuda'"),
        ({"video.methods": ["erm"]}, "video.methods.0", "'constrained' or 'unconstrained'"),
        ({"profile": "papre"}, "profile", "unknown name 'papre'; known: demo, small, paper"),
        ({"video.models": ["vti"]}, "video.models", "unknown name 'vti'; known: ut, dust, vit"),
        ({"video.datasets": ["ped3"]}, "video.datasets", "unknown name 'ped3'; known: avenue, ucsd"),
        ({"infeasible.model": "vti"}, "infeasible.model", "unknown name 'vti'; known: ut, dust"),
        ({"infeasible.dataset": "ped3"}, "infeasible.dataset (one of video.datasets)", "unknown name 'ped3'"),
        ({"video.frame": {"size": 10, "patch": 4}}, "video.frame", "10 is not a multiple of patch 4"),
        ({"profiles.demo.data.ucsd": URL}, "profiles.demo.data.ucsd", "exactly one of generate, path, url"),
        ({"profiles.small.data.ucsd": URL}, "profiles.small.data.ucsd", "exactly one of generate, path, url"),
        ({"profiles.paper.data.ucsd.sha256": None}, "profiles.paper.data.ucsd", "a url needs its sha256"),
        ({"profiles.small.data.ucsd.sha256": "0" * 64}, "profiles.small.data.ucsd", "sha256 belongs to a url"),
        ({"profiles.paper.data.ucsd.sha256": "2329"}, "profiles.paper.data.ucsd.sha256", "pattern"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(tmp_path: Path, changes: dict, path: str, told: str) -> None:
    message = refused(tmp_path, changes=changes)
    assert f" {path}:" in message and told in message, message
    assert "params.yaml is not right" in message and "pydantic" not in message


@pytest.mark.parametrize(
    ("section", "values", "told"),
    [
        ("infeasible.primal_dual", {"beta": 1}, "beta: unknown key"),
        ("infeasible.primal_dual", {"alpha": 7.0}, "alpha: Input should be less than 1, not 7.0"),
        ("text.per_dataset.mnli.ut_text", {"beta": 1}, "beta: unknown key"),
        ("text.per_dataset.mnli.distilbert", {"rho": "1"}, "rho: Input should be a valid number, not '1'"),
    ],
)
def test_a_section_that_replaces_values_is_checked_when_the_file_is_read(
    tmp_path: Path, section: str, values: dict, told: str
) -> None:
    message = refused(tmp_path, changes={section: values})
    assert f"{section} is not right:\n  {told}" in message and "pydantic" not in message


def test_what_was_given_is_quoted(tmp_path: Path) -> None:
    assert ", not '1e-3'" in refused(tmp_path, changes={f"{BUDGET}.ut.lr": "1e-3"})
    assert ", not -0.1" in refused(tmp_path, changes={"eps": -0.1})


@pytest.mark.parametrize("path", ["eps", "models.dust.kappa", f"{BUDGET}.tokens", "primal_dual.ut.restart"])
def test_a_missing_key_is_named(tmp_path: Path, path: str) -> None:
    given = values()
    *parents, last = path.split(".")
    node = given
    for parent in parents:
        node = node[parent]
    del node[last]
    message = refused(
        tmp_path, text=str(given).replace("True", "true").replace("False", "false").replace("None", "~")
    )
    assert f" {path}: missing key" in message, message


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    message = refused(tmp_path, changes={"eps": -1, "video.tolerance": "x", "training.clip_norm": 0})
    assert all(f" {path}:" in message for path in ("eps", "video.tolerance", "training.clip_norm"))


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "is not right"), ("a: [", "is not YAML"), ("eps: 1\neps: 2", "is not YAML"), ("- 3", "object")],
)
def test_what_is_not_a_parameter_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    message = refused(tmp_path, text=text)
    assert told in message and str(tmp_path / "params.yaml") in message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params\.yaml is missing; run from the project's root"):
        load(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {f"{BUDGET}.atoms": 60},
        {f"{BUDGET}.seeds": [-1]},
        {"evaluation.seed": -1},
        {"training.betas": [0.9, 1.0]},
    ],
)
def test_values_that_only_a_later_stage_would_stumble_over_are_refused(tmp_path: Path, changes: dict) -> None:
    refused(tmp_path, changes=changes)


def test_a_date_is_a_wrong_type_like_any_other(tmp_path: Path) -> None:
    refused(tmp_path, text="profile: 2020-01-01")


def test_scientific_notation_is_a_number_and_an_integer_is_a_float(tmp_path: Path) -> None:
    write_params(tmp_path, {"eps": 0})
    text = (tmp_path / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace('"lr": 0.01', '"lr": 1e-2'))
    params = load(tmp_path / "params.yaml")
    assert params.budget.video.ut.lr == 0.01 and params.eps == 0


def test_an_experiment_replaces_values_of_the_problem_and_no_others() -> None:
    params = small_params()
    before, after = params.constraints("dust"), params.constraints("dust", {"alpha": 0.5})
    assert (before.alpha, after.alpha) == (0.2, 0.5)
    assert after.model_copy(update={"alpha": 0.2}) == before == params.primal_dual.dust
    with pytest.raises(UserError, match="alpha: Input should be less than 1"):
        params.constraints("dust", {"alpha": 7.0})


def test_parameters_do_not_change_once_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        small_params().video.tolerance = 0.5


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ({"eps": -1}, ("video", "ucsd", "dust", "constrained"), "eps: Input should be greater than or equal to 0"),
        ({}, ("video", "ucsd", "vti", "constrained"), "unknown name 'vti'; known: ut, dust, vit"),
        ({}, ("video", "avenue", "dust", "constrained"), "dvc repro --force preprocess_video@avenue"),
    ],
)
def test_a_stage_ends_with_one_message_and_no_traceback(
    tmp_path: Path, changes: dict, words: tuple[str, ...], told: str
) -> None:
    write_params(make_project(tmp_path / "project"), changes)
    command = [sys.executable, "-m", "stages.train_video", *words]
    found = subprocess.run(command, cwd=tmp_path / "project", env=environment(), capture_output=True, text=True)
    assert found.returncode == 1 and told in found.stderr
    assert "Traceback" not in found.stderr and "train_video.py" in found.stderr


def test_the_parameters_of_the_results_are_read_back_without_what_changes_no_result(tmp_path: Path) -> None:
    asked, path = load(), tmp_path / "params.json"
    path.write_text(of_results(asked))
    found = load(path)
    same = {"method", "device", "local_data", "profiles"}
    assert found.model_dump(exclude=same) == asked.model_dump(exclude=same)
    assert found.profiles == {asked.profile: asked.budget}
    elsewhere = asked.model_copy(update={"method": "unconstrained", "device": "cpu", "local_data": "/elsewhere"})
    assert of_results(elsewhere) == path.read_text()
