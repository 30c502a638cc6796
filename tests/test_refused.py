"""params.yaml is read strictly: whatever is wrong ends in one message that names where and what is allowed."""

from pathlib import Path
from typing import Any

import pytest

from descent.config import load
from descent.errors import UserError
from tests.fakes.core import values, write_params
from tests.fakes.dust import BUDGET

HALF = {"task": "video", "dataset": "ucsd", "model": "dust", "layers": 3, "eps": 0.1, "overrides": {}}
HALF |= {"arm": "constrained", "beside": ["unconstrained"], "vary": None, "times": 0.5}


def refused(folder: Path, text: str | None = None, changes: dict[str, Any] | None = None) -> str:
    if text is None:
        write_params(folder, changes)
    else:
        (folder / "params.yaml").write_text(text)
    with pytest.raises(UserError) as error:
        load(folder / "params.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("changes", "path", "told"),
    [
        ({"gamma": 1.0}, "gamma", "unknown key"),
        ({"video.frame.colour": True}, "video.frame.colour", "unknown key"),
        ({"components": {}}, "components", "unknown key"),
        ({"eps": "0.13"}, "eps", "number"),
        ({"eps": True}, "eps", "number"),
        ({f"{BUDGET}.batch": True}, f"{BUDGET}.batch", "integer"),
        ({f"{BUDGET}.epochs": 2.5}, f"{BUDGET}.epochs", "integer"),
        ({f"{BUDGET}.layers": 3}, f"{BUDGET}.layers", "array"),
        ({f"{BUDGET}.layers": []}, f"{BUDGET}.layers", "at least 1 item"),
        ({f"{BUDGET}.seeds": []}, f"{BUDGET}.seeds", "at least 1 item"),
        ({f"{BUDGET}.seeds": [2**32 - 1]}, f"{BUDGET}.seeds.0", "less than or equal to 4294967289"),
        ({"video": None}, "video", "object"),
        ({"arms": []}, "arms", "at least 1 item"),
        ({"video.evaluation.gammas": []}, "video.evaluation.gammas", "at least 1 item"),
        ({"video.evaluation.shifts": []}, "video.evaluation.shifts", "at least 1 item"),
        ({"eps": -0.1}, "eps", "greater than or equal to 0"),
        ({f"{BUDGET}.eps": [0.0, -0.1]}, f"{BUDGET}.eps.1", "greater than or equal to 0"),
        ({"eps": float("nan")}, "eps", "finite number"),
        ({f"{BUDGET}.tokens": 0}, f"{BUDGET}.tokens", "greater than or equal to 1"),
        ({"device": "gpu"}, "device", "not 'gpu'"),
        (
            {"method": "deep_supervision"},
            "method (one of arms)",
            "'deep_supervision'; known: constrained, unconst",
        ),
        (
            {"arms": ["constrained", "erm"]},
            "arms",
            "unknown name 'erm'; known: constrained, constrained_range, deep",
        ),
        ({"arms": ["constrained", "constrained", "unconstrained"]}, "arms", "stands there twice: constrained"),
        ({"comparison.ours": "deep_supervision"}, "comparison (of arms)", "unknown name 'deep_supervision'"),
        ({"comparison.baseline": "constrained"}, "comparison (of arms)", "twice"),
        ({"objectives.erm": {}}, "objectives", "unknown name 'erm'"),
        ({"objectives.constrained.models.dsut": {}}, "objectives.constrained.models", "unknown name 'dsut'"),
        (
            {"objectives.constrained.datasets.imbd": {}},
            "objectives.constrained.datasets",
            "unknown name 'imbd'; known: avenue, shanghaitech, ucsd, imdb, mnli, alpaca",
        ),
        (
            {"objectives.constrained.datasets.imdb": {"dsut": {}}},
            "objectives.constrained.datasets.imdb",
            "unknown name 'dsut'",
        ),
        ({"models.dsut": {}}, "models", "unknown name 'dsut'"),
        (
            {"models.dust.arms": {"constraind": {"dictionaries": "per_layer"}}},
            "models.dust.arms",
            "unknown name 'constraind'; known: constrained, constrained_range",
        ),
        ({"profiles.demo.data.ped3": {}}, "profiles.demo.data", "unknown name 'ped3'"),
        ({"profiles.demo.studies.alpah": {}}, "profiles.demo.studies", "unknown name 'alpah'; known: alpha"),
        ({f"{BUDGET}.models.dsut": {}}, f"{BUDGET}.models", "unknown name 'dsut'; known: dust"),
        ({f"{BUDGET}.models.roberta": {}}, f"{BUDGET}.models", "unknown name 'roberta'; known: dust"),
        (
            {f"{BUDGET}.models.dust.arms": {"erm": {"lr": 0.1}}},
            f"{BUDGET}.models.dust.arms",
            "unknown name 'erm'",
        ),
        ({"objectives.penalty.like": "penalty"}, "objectives", "penalty is like penalty"),
        ({"study.alpha.like": "alpha"}, "study", "alpha is like alpha"),
        ({"study.dual_lr.like": "alpah"}, "study.dual_lr.like", "unknown name 'alpah'; known: alpha"),
        ({"study.dual_lr.like": ["alpha"]}, "study.dual_lr.like", "string"),
        ({"objectives.constrained.models": None}, "objectives.constrained.models", "object"),
        ({"objectives.constrained.models.dust": None}, "objectives.constrained.models.dust", "object"),
        ({"objectives.constrained.datasets": None}, "objectives.constrained.datasets", "object"),
        ({"models.dust.arms": None}, "models.dust.arms", "object"),
        ({"models.ut_text.tokenizer": ["bert"]}, "models.ut_text.tokenizer", "string"),
        ({f"{BUDGET}.models.dust.arms": None}, f"{BUDGET}.models.dust.arms", "object"),
        ({f"{BUDGET}.models.dust.layers": 3}, f"{BUDGET}.models.dust.layers", "array"),
        ({"text.search.arms": {"constraint": ["dual_lr"]}}, "text.search.arms", "unknown name 'constraint'"),
        ({"studies": ["alpah"]}, "studies", "unknown name 'alpah'; known: alpha, dual_lr, resilience, solver"),
        ({"studies": ["alpha", "alpha"]}, "studies", "twice"),
        ({"profile": "papre"}, "profile", "unknown name 'papre'; known: demo, small, paper"),
        ({"video.models": ["vti"]}, "video.models", "unknown name 'vti'; known: dust, dust_bounded, dust_over"),
        (
            {"video.models": ["roberta"]},
            "video.models",
            "unknown name 'roberta'; known: dust, dust_bounded, dust_overcomplet",
        ),
        ({"video.models": ["dust", "ut", "dust"]}, "video.models", "twice: dust, ut, dust"),
        ({"video.datasets": ["ped3"]}, "video.datasets", "unknown name 'ped3'; known: avenue, shanghaitech, ucsd"),
        ({"video.datasets": ["imdb"]}, "video.datasets", "unknown name 'imdb'"),
        ({"video.datasets": ["ucsd", "ucsd"]}, "video.datasets", "twice"),
        (
            {"video.evaluation.shifts": ["fog"]},
            "video.evaluation.shifts",
            "'fog'; known: blur, brightness",
        ),
        (
            {"text.evaluation.shifts": ["salt_and_pepper"]},
            "text.evaluation.shifts",
            "salt_and_pepper does not fit text; shifts that do: character_swaps, gaussian",
        ),
        ({"profiles.demo.video.shifts": ["fog"]}, "profiles.demo.video.shifts", "unknown name 'fog'"),
        ({"video.evaluation.shifts": ["gaussian"] * 2}, "video.evaluation.shifts", "twice"),
        (
            {"text.evaluation.shifts": ["uniform"]},
            "text.evaluation.shifts",
            "gaussian, the noise of training, is missing",
        ),
        (
            {"video.frame": {"size": 16, "patch": 4}, "profiles.demo.video.tokens": 16},
            "profiles.demo.video.tokens",
            "a sequence of 16 patches, of which each has 16 pixels, would be taken for a frame",
        ),
        (
            {"video.frame": {"size": 16, "patch": 4}, "profiles.demo.video.models.ut.tokens": 16},
            "profiles.demo.video.models.ut.tokens",
            "a sequence of 16 patches, of which each has 16 pixels, would be taken for a frame",
        ),
        (
            {"models.ut_text.tokenizer": "gpt"},
            "profiles.demo.text.tokenizers",
            "unknown name 'gpt'; known: bert, roberta",
        ),
        ({"video.frame": {"size": 10, "patch": 4}}, "video.frame", "10 is not a multiple of patch 4"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(tmp_path: Path, changes: dict, path: str, told: str) -> None:
    message = refused(tmp_path, changes=changes)
    assert f" {path}:" in message and told in message, message
    assert "params.yaml is not right" in message and "pydantic" not in message


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"study.infeasible": {"beta": 1}}, "study.infeasible is not right:\n  beta: unknown key"),
        ({"study.infeasible": {"layers": 0}}, "layers: Input should be greater than or equal to 1"),
        ({"studies": ["plateau_ut"], "study.plateau_ut": HALF}, "plateau_ut: a plateau_* trains for twice the"),
        (
            {"studies": ["plateau_ut"], "study.plateau_ut.overrides": {"alpha": 0.3}},
            "plateau_ut: a plateau_* trains what its task's grid does (P4): let it vary and override nothing",
        ),
        ({"study.infeasible": {"times": 0}}, "times: Input should be greater than 0"),
        ({"study.infeasible": {"times": 1e308}}, "times: Input should be less than or equal to 1000"),
        (
            {"study.infeasible": {"arm": "erm"}},
            "study.infeasible: unknown name 'erm'; known: constrained, constrained_range, deep_super",
        ),
        ({"study.infeasible": {"alone": True}}, "alone is of texts"),
        ({"study.infeasible": {"beside": ["constrained"]}}, "constrained stands in beside too, and would be"),
        ({"study.infeasible": {"beside": ["erm"]}}, "study.infeasible: unknown name 'erm'"),
        ({"study.infeasible": {"model": "vti"}}, "study.infeasible: unknown name 'vti'"),
        ({"study.infeasible": {"dataset": "ped3"}}, "study.infeasible: unknown name 'ped3'; known: avenue"),
        ({"profiles.demo.studies.infeasible": {"like": "infeasible"}}, "like: unknown key"),
        ({"profiles.demo.studies.infeasible": {"like": ["alpha"]}}, "like: unknown key"),
        ({"study.infeasible": {"model": "roberta"}}, "roberta is a model of text, not of video"),
        (
            {"study.infeasible": {"vary": "alpha"}},
            "varies alpha, but profiles.demo.studies.infeasible has no value",
        ),
        ({"profiles.demo.studies.infeasible": {"seeds": []}}, "seeds: List should have at least 1 item"),
    ],
)
def test_a_study_in_use_is_checked_when_the_file_is_read(tmp_path: Path, changes: dict, told: str) -> None:
    assert told in refused(tmp_path, changes=changes)


def test_what_was_given_is_quoted(tmp_path: Path) -> None:
    assert ", not 'x'" in refused(tmp_path, changes={"video.tolerance": "x"})
    assert ", not -0.1" in refused(tmp_path, changes={"eps": -0.1})


@pytest.mark.parametrize("path", ["eps", "arms", f"{BUDGET}.tokens", "video.evaluation.seed", "training"])
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
    [
        ("", "is not right: it should hold sections, not None"),
        ("a: [", "is not YAML"),
        ("eps: 1\neps: 2", "is not YAML: the key eps stands there twice"),
        ("eps: &a {b: 1}\nx:\n  <<: *a\n  c: 1\n  c: 2", "is not YAML: the key c stands there twice"),
        ("- 3", "it should hold sections, not [3]"),
    ],
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
        {f"{BUDGET}.seeds": [-1]},
        {"video.evaluation.seed": -1},
        {"training.betas": [0.9, 1.0]},
    ],
)
def test_values_that_only_a_later_stage_would_stumble_over_are_refused(tmp_path: Path, changes: dict) -> None:
    refused(tmp_path, changes=changes)


def test_a_date_is_a_wrong_type_like_any_other(tmp_path: Path) -> None:
    refused(tmp_path, text="profile: 2020-01-01")
