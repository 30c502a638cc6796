"""Values in params.yaml that are of a wrong type, out of range, or mean nothing."""

import math
from typing import Any

from descent import cells
from descent.components import TASKS
from descent.config import Params
from descent.tasks.common.items import budget_of, setting, settings_by_arm
from descent.tasks.common.shifted import check
from tests.fakes.core import small_params
from tests.faults.case import Case

VIDEO, TEXT, LM = "profiles.demo.video", "profiles.demo.text", "profiles.demo.lm"
OURS = "objectives.constrained"
WRONG: dict[str, list[tuple[str, Any]]] = {  # of a kind of value, those that are none
    "a positive number": [("zero", 0), ("below zero", -1.0), ("NaN", math.nan), ("infinite", math.inf)],
    "a number from zero": [("below zero", -0.1), ("NaN", math.nan), ("infinite", math.inf), ("a word", "x")],
    "a share": [("one", 1.0), ("below zero", -0.1), ("a word", "half"), ("NaN", math.nan)],
    "a count": [("zero", 0), ("a half", 2.5), ("true", True), ("2**80", 2**80), ("null", None)],
    "a list of counts": [("empty", []), ("a number", 3), ("of zero", [0]), ("of words", ["x"])],
    "a list of levels": [("a number", 0.1), ("of NaN", [math.nan]), ("below zero", [-1.0]), ("of words", ["x"])],
    "a list of names": [("a word", "ucsd"), ("an empty name", [""]), ("with a slash", ["a/b"]), ("null", None)],
    "a word of some": [("another word", "sometimes"), ("a number", 3), ("true", True), ("a list", ["x"])],
    "a section": [("null", None), ("a word", "x"), ("a list", [1])],
    "true or false": [("a number", 2), ("a word", "yes"), ("null", None)],
}
KEYS_OF: dict[str, str] = {
    "eps": "a number from zero",
    "video.tolerance": "a number from zero",
    "training.clip_norm": "a positive number",
    "training.warmup": "a share",
    "training.precision": "a word of some",
    "video.evaluation.precision": "a word of some",
    "training.schedule": "a word of some",
    "training.compile": "a word of some",
    "training.stack_elements.cpu": "a count",
    f"{OURS}.alpha": "a share",
    f"{OURS}.R0": "a positive number",
    f"{OURS}.rho": "a positive number",
    f"{OURS}.resilience": "a word of some",
    f"{OURS}.restart": "true or false",
    f"{OURS}.dual_every": "a count",
    f"{VIDEO}.batch": "a count",
    f"{VIDEO}.epochs": "a count",
    f"{VIDEO}.layers": "a list of counts",
    f"{VIDEO}.eps": "a list of levels",
    f"{VIDEO}.models.dust.lr": "a positive number",
    f"{TEXT}.max_tokens": "a count",
    f"{LM}.prompt": "a word of some",
    "video.datasets": "a list of names",
    "text.models": "a list of names",
    "video.evaluation.gammas": "a list of levels",
    "video.evaluation.batch": "a count",
    "device": "a word of some",
    "models.ut.residual": "true or false",
    "video": "a section",
    "training": "a section",
    "profiles": "a section",
}
SINGLE: list[tuple[str, dict[str, Any], str]] = [
    ("true for cap_layer", {f"{OURS}.cap_layer": True}, "cap_layer"),
    ("2 for cap_layer", {f"{OURS}.cap_layer": 2}, "cap_layer"),
    (
        "as many warm-up epochs as there are",
        {f"{OURS}.warmup_epochs": 4},
        "warmup_epochs 4 leaves none of the 4 epochs",
    ),
    (
        "warm-up beyond the epochs for one data set",
        {f"{OURS}.datasets": {"ucsd": {"dust": {"warmup_epochs": 9}}}},
        "warmup_epochs 9 leaves none",
    ),
    (
        "warm-up beyond the epochs for one model",
        {f"{OURS}.models.dust": {"warmup_epochs": 9}},
        "warmup_epochs 9 leaves none",
    ),
    (
        "warm-up beyond the epochs of one model's budget",
        {f"{VIDEO}.models.dust.epochs": 1},
        "warmup_epochs 1 leaves none",
    ),
    (
        "warm-up beyond the epochs of the language model",
        {f"{LM}.models.causal_lm.arms.constrained": {"warmup_epochs": 9}},
        "warmup_epochs 9 leaves none",
    ),
    (
        "warm-up beyond the epochs in a study",
        {"study.infeasible": {"overrides": {"warmup_epochs": 9}}, "studies": ["infeasible"]},
        "warmup_epochs 9 leaves none",
    ),
    ("a data set twice", {"video.datasets": ["ucsd", "ucsd"]}, "twice"),
    (
        "a value of a study twice",
        {
            "studies": ["infeasible"],
            "study.infeasible": {"vary": "rho", "overrides": {}},
            "profiles.demo.studies.infeasible": {"values": [2.0, 2.0], "seeds": [0]},
        },
        "twice",
    ),
    ("what a search varies twice", {"text.search.arms": {"constrained": ["rho", "rho"]}}, "twice"),
    ("an arm twice", {"arms": ["constrained", "constrained"]}, "twice"),
    ("a depth twice", {f"{VIDEO}.layers": [3, 3]}, "twice"),
    ("a seed twice", {f"{VIDEO}.seeds": [0, 0]}, "twice"),
    ("a test level twice", {"video.evaluation.gammas": [0.5, 0.5]}, "twice"),
    (
        "an arm beside a study twice",
        {"study.infeasible": {"beside": ["unconstrained"] * 2}, "studies": ["infeasible"]},
        "twice",
    ),
    ("an unknown key", {"gamma": 1.0}, "gamma: unknown key"),
    ("an unknown key of an arm", {f"{OURS}.rho2": 1.0}, "rho2: unknown key"),
    ("an unknown key of a model", {"models.ut.residul": True}, "residul: unknown key"),
    ("an unknown key of a shift", {"shifts.gaussian": {"level": [1.0]}}, "level: unknown key"),
    ("an arm that is no file", {"arms": ["constrained", "erm"]}, "unknown name 'erm'"),
    ("a model of another task", {"video.models": ["roberta"]}, "unknown name 'roberta'"),
    ("a profile that is none", {"profile": "large"}, "unknown name 'large'"),
    ("a method that is no arm in use", {"method": "penalty"}, "unknown name 'penalty'"),
    ("an arm compared with itself", {"comparison.baseline": "constrained"}, "twice"),
    ("a frame of no whole patches", {"video.frame": {"size": 10, "patch": 4}}, "not a multiple"),
    ("a frame of 2**40 pixels a side", {"video.frame": {"size": 2**40, "patch": 4}}, "size"),
    ("seeds of more than 64 bits", {f"{VIDEO}.seeds": [2**70]}, "seeds"),
    ("two sources", {"profiles.demo.data.ucsd": {"path": "x"}}, "exactly one of generate, path, url"),
    (
        "a url without its sha256",
        {"profiles.demo.data.ucsd": {"generate": None, "url": "http://x/a.zip"}},
        "sha256",
    ),
    (
        "a sha256 in capitals",
        {"profiles.demo.data.ucsd": {"generate": None, "url": "http://x/a.zip", "sha256": "A" * 64}},
        "sha256",
    ),
    (
        "no heads",
        {
            f"{LM}.models.causal_lm.weights": {
                "random": {"width": 8, "heads": 0, "key_value_heads": 1, "feedforward": 8}
            }
        },
        "heads",
    ),
    (
        "heads that do not divide the width",
        {f"{TEXT}.models.distilbert.weights": {"random": {"width": 8, "heads": 3, "feedforward": 8}}},
        "not a multiple of heads",
    ),
    (
        "a width of 2**50",
        {f"{TEXT}.models.distilbert.weights": {"random": {"width": 2**50, "heads": 2, "feedforward": 8}}},
        "width",
    ),
    (
        "a vocabulary of ten",
        {f"{TEXT}.tokenizers.bert": {"train": {"kind": "bpe", "vocabulary": 10}}},
        "vocabulary",
    ),
    (
        "a kind of tokenizer that is none",
        {f"{TEXT}.tokenizers.bert": {"train": {"kind": "x", "vocabulary": 500}}},
        "kind",
    ),
    ("a path that is a number", {"profiles.demo.data.ucsd": {"generate": None, "path": 3}}, "path"),
    ("a path that is empty", {"profiles.demo.data.ucsd": {"generate": None, "path": ""}}, "path"),
    ("a hub id that is empty", {"profiles.demo.data.imdb": {"generate": None, "hub": {"id": ""}}}, "hub"),
    ("a validation share of all", {"text.validation_share": 1.0}, "validation_share"),
    (
        "a blur of thirty pixels",
        {"video.evaluation.shifts": ["gaussian", "blur"], "shifts.blur": {"levels": [30.0]}},
        "shifts.blur is not right",
    ),
    (
        "a length of correlation below zero",
        {"video.evaluation.shifts": ["gaussian", "correlated"], "shifts.correlated": {"length": -2}},
        "length: ",
    ),
    (
        "missing patches without a side",
        {"profiles.demo.video.shifts": ["gaussian", "missing_patches"], "shifts.missing_patches": {"side": 0}},
        "side: ",
    ),
    ("levels of the noise of training", {"shifts.gaussian": {"levels": [0.1]}}, "levels must be null"),
    ("a search without its range", {"text.search.arms": {"constrained": ["beta"]}}, "'beta' has no range"),
]
HANDLED = [("a noise level twice", {f"{VIDEO}.eps": [0.1, 0.1]})]


def everything(params: Params) -> None:
    """What the stages check of params.yaml, one after another."""
    for task in TASKS:
        section = params.section(task)
        for dataset in section.datasets:
            params.source(task, dataset)
            for model in section.models:
                budget_of(params, model), settings_by_arm(params, model)
                for cell in cells.grid(params, task, dataset, model):
                    setting(params, cell)
        check(params, task)
    for name in params.studies:
        study = params.studied(name)
        if params.runs(study):
            for cell in cells.study_cells(params, name):
                varied = study.variants().get(cell.varied) if cell.arm == study.arm else None
                setting(params.trained_for(study.model, study.times), cell, varied or {})


def values(changes: dict[str, Any]) -> None:
    everything(small_params({"studies": []} | changes))


CASES = [
    *(
        Case("parameter value", f"{path}: {name}", lambda path=path, value=value: values({path: value}), r"\w")
        for path, kind in KEYS_OF.items()
        for name, value in WRONG[kind]
    ),
    *(
        Case("parameter value", name, lambda changes=changes: values(changes), told)
        for name, changes, told in SINGLE
    ),
    *(Case("parameter value", name, lambda changes=changes: values(changes)) for name, changes in HANDLED),
]
