"""A cell's fingerprint follows the parameters and the data that change its weights, and nothing else."""

import json
from pathlib import Path

import pytest

from descent.cells import Cell
from descent.tasks.common.items import setting
from descent.tasks.video import feed as video_feed
from descent.training.arm import Setting
from tests.fakes.core import item_of, small_params
from tests.fakes.dust import BUDGET

pytestmark = pytest.mark.usefixtures("project")


def fingerprint(changes: dict, arm: str = "constrained", model: str = "dust") -> str:
    params = small_params(changes)
    cell = Cell("video", "ucsd", model, arm, 3, 0.13, 0)
    recorded = json.loads(json.dumps(setting(params, cell).definition()))
    return item_of(params, "video", "ucsd", model).fingerprint(cell, Setting.recorded(recorded))


def of_study(changes: dict, name: str = "infeasible") -> list[str]:
    item = item_of(small_params(changes), name)
    return [item.fingerprint(cell, own) for cell, own in item.settings.items() if cell.arm == "constrained"]


OWN = f"{BUDGET}.models.dust"
RELEVANT = [
    {f"{OWN}.lr": 0.5},
    {f"{BUDGET}.tokens": 4},
    {f"{BUDGET}.batch": 3},
    {f"{BUDGET}.epochs": 9},
    {f"{BUDGET}.epoch_inputs": None},
    {f"{BUDGET}.validation_inputs": 9},
    {f"{OWN}.atoms": 16},
    {"models.dust.threshold": 0.5},
    {"models.dust.kappa": 0.5},
    {"video.noise_scale": 0.25},
    {"video.patch_loss": "mean"},
    {"video.selection": "final"},
    {"training.clip_norm": 0.5},
    {"training.schedule": "constant"},
    {"training.precision": "bf16"},
]
OF_THE_CONSTRAINED = [
    {"objectives.constrained.alpha": 0.5},
    {"objectives.constrained.models.dust": {"R0": 9.0}},
    {"objectives.constrained.datasets": {"ucsd": {"dust": {"rho": 9.0}}}},
    {"objectives.constrained.warmup_epochs": 2},
    {f"{OWN}.arms.constrained.dual_lr": 0.5},
    {"models.dust.arms.constrained.dictionaries": "shared"},
    {f"{OWN}.arms.constrained.lr": 0.9},
]
IRRELEVANT = [
    {"training.checkpoint_seconds": 1.0},
    {"training.stack_elements": {"cpu": 1, "cuda": 1}},
    {
        "video.evaluation": {
            "gammas": [0.7],
            "seed": 9,
            "batch": 9,
            "noise_draws": 1,
            "shifts": ["gaussian", "salt_and_pepper"],
        }
    },
    {"shifts.salt_and_pepper.levels": [0.5]},
    {"method": "unconstrained"},
    {"comparison": {"ours": "unconstrained", "baseline": "constrained"}},
    {"arms": ["unconstrained", "deep_supervision", "constrained"]},
    {"device": "auto"},
    {"eps": 0.4},
    {BUDGET: {"layers": [7], "eps": [0.9], "seeds": [3], "test_inputs": 7}},
    {"video.models": ["dust"], "studies": []},
    {"local_data": "elsewhere"},
    {"study.infeasible": {"layers": 9, "overrides": {"alpha": 0.1}}},
    {"objectives.constrained.models.ut": {"alpha": 0.5}, "models.ut.residual": False},
    {"objectives.deep_supervision.weights": "uniform", f"{BUDGET}.models.ut.lr": 0.5},
    {"models.dust.arms.unconstrained": {"dictionaries": "per_layer"}},
    {f"{OWN}.arms.unconstrained": {"lr": 0.7}},
    {"text": {"eps": 0.9, "tolerance": 0.9, "selection": "final"}},
    {"profiles.demo.text.max_tokens": 9, "objectives.constrained.models.ut_text": {"alpha": 0.9}},
]


def test_a_fingerprint_changes_with_all_that_changes_the_weights_and_nothing_else() -> None:
    names = [fingerprint(changes) for changes in ({}, *RELEVANT, *OF_THE_CONSTRAINED)]
    assert len(set(names)) == len(names)
    for changes in IRRELEVANT:
        assert fingerprint(changes) == names[0], changes


def test_what_the_noise_scale_is_taken_for_is_part_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint({})
    monkeypatch.setattr(video_feed, "sigma", lambda params, prepared: prepared.sigma / 2)
    assert fingerprint({}) != before


def test_the_unconstrained_arm_does_not_depend_on_the_constraints() -> None:
    free = fingerprint({}, "unconstrained")
    for changes in OF_THE_CONSTRAINED:
        assert fingerprint(changes, "unconstrained") == free, changes
    own = (
        {"models.dust.arms.unconstrained": {"dictionaries": "per_layer"}},
        {f"{OWN}.arms.unconstrained": {"lr": 0.7}},
    )
    for changes in (*RELEVANT, *own):
        assert fingerprint(changes, "unconstrained") != free, changes


def test_a_study_depends_on_its_own_section() -> None:
    (name,) = of_study({})
    assert of_study({"study.infeasible": {"overrides": {"alpha": 0.1}}}) != [name]
    replaced = {"alpha": 0.9, "R0": 0.01, "resilience": "none"}
    for key in replaced:
        other = {"alpha": 0.5, "R0": 7.0, "resilience": "decay"}[key]
        assert of_study({"objectives.constrained.models.dust": {key: other}}) == [name], "replaced there"
    assert of_study({"objectives.constrained.models.dust": {"rho": 2.0}}) != [name]


def test_a_study_takes_the_cells_that_it_shares_with_a_grid() -> None:
    varied = {"vary": "alpha", "overrides": {}, "eps": 0.13}
    params = small_params({"study.infeasible": varied, "profiles.demo.studies.infeasible": {"values": [0.2, 0.4]}})
    study, grid = item_of(params, "infeasible"), item_of(params, "video", "ucsd", "dust")
    known = {grid.fingerprint(cell, own) for cell, own in grid.settings.items()}
    shared = {
        (cell.arm, cell.varied): study.fingerprint(cell, own) in known for cell, own in study.settings.items()
    }
    assert shared == {
        ("unconstrained", ""): True,
        ("constrained", "0.2"): True,
        ("constrained", "0.4"): False,
    }


def test_a_fingerprint_changes_with_the_data(project: Path) -> None:
    before = fingerprint({})
    meta = project / "data" / "prepared" / "ucsd" / "meta.json"
    meta.write_text(meta.read_text().replace('"digest": "', '"digest": "0'))
    assert fingerprint({}) != before
