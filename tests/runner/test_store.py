"""The store of finished cells: what is in it is taken, what is missing is trained, nothing stale is used."""

import json
import threading
from pathlib import Path

import pytest
import torch

from descent.arms import constrained, unconstrained
from descent.cells import Cell
from descent.errors import UserError
from descent.paths import runs_folder
from descent.runner import store
from descent.runner.stacks import plan
from descent.runner.stored import Stored
from descent.schema import Schema
from descent.tasks.common.items import setting
from descent.training.arm import Setting
from tests.fakes.core import enter_project, item_of, small_params, small_problem

BUDGET = "profiles.demo.video"
CELL = Cell("video", "ucsd", "dust", "constrained", 3, 0.13, 0)
OTHER = Cell("video", "ucsd", "dust", "constrained", 3, 0.5, 0)
WEIGHTS = {"dictionaries": torch.arange(6.0).view(2, 3).T}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    enter_project(tmp_path / "project", monkeypatch)
    return tmp_path / "project"


def put(fingerprint: str) -> None:
    store.publish(fingerprint, WEIGHTS, "epoch,layer\n1,0\n", {"fingerprint": fingerprint, "epoch": 1})


def test_what_is_published_is_handed_out_and_read_back() -> None:
    assert not store.has("a1")
    put("a1")
    assert store.has("a1") and not store.has("b2")
    out = runs_folder("video", "ucsd", "dust")
    store.hand_out({CELL: "a1"}, out)
    store.check(out, CELL, "a1")
    weights, record = Stored(out / CELL.name).weights, store.record(out, CELL)
    assert torch.equal(weights["dictionaries"], WEIGHTS["dictionaries"]) and record["epoch"] == 1
    assert (out / "constrained-L3-eps0.13-seed0" / "history.csv").read_text() == "epoch,layer\n1,0\n"


def test_the_output_folder_holds_exactly_the_cells_asked_for() -> None:
    put("a1"), put("b2")
    out = Path("data/runs/item")
    store.hand_out({CELL: "a1", OTHER: "b2"}, out)
    (out / "stray").mkdir()
    store.hand_out({OTHER: "b2"}, out)
    assert [path.name for path in out.iterdir()] == [OTHER.name]
    assert [path.name for path in out.parent.iterdir()] == ["item"], "nothing half-written beside it"
    assert store.has("a1"), "the store keeps what was not asked for"


def test_a_missing_or_stale_cell_is_refused_with_what_to_do() -> None:
    put("a1")
    out = Path("data/runs/item")
    with pytest.raises(UserError, match=r"item/constrained-L3-eps0\.13-seed0 is missing: run `dvc repro`"):
        store.check(out, CELL, "a1")
    store.hand_out({CELL: "a1"}, out)
    with pytest.raises(UserError, match=r"other parameters, data or code than params\.yaml asks for now"):
        store.check(out, CELL, "c3")


def test_who_publishes_a_cell_a_second_time_leaves_the_first_and_no_part() -> None:
    put("a1")
    before = (store.folder("a1") / "history.csv").read_text()
    store.publish("a1", WEIGHTS, "new", {"fingerprint": "a1"})
    assert (store.folder("a1") / "history.csv").read_text() == before
    assert [path.name for path in store.root().iterdir()] == ["a1"]


def test_an_experiment_in_a_temporary_folder_uses_the_original_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    put("a1")
    assert (tmp_path / ".cells" / "a1" / "cell.json").exists() and not Path(".cells").exists()


def test_a_checkpoint_belongs_to_its_stack_until_the_stack_is_closed() -> None:
    stacks = (["a1"], ["b2"], ["a1", "b2"], ["b2", "a1"])
    places = [store.open_stack(stack) for stack in stacks]
    assert len(set(places)) == 4 and store.open_stack(["a1"]) == places[0]
    assert sorted(store.open_stacks()) == sorted(stacks)
    places[2].write_text("state")
    store.close_stack(["a1", "b2"])
    assert not places[2].exists() and sorted(store.open_stacks()) == [["a1"], ["b2"], ["b2", "a1"]]


CONSTRAINED = constrained.Settings(**small_problem().model_dump())


def asked(lr: float = 0.1, values: Schema | None = CONSTRAINED) -> Setting:
    """The setting of a constrained cell, or of one of the other arm."""
    arm = "constrained" if values is not None else "unconstrained"
    return Setting(arm, lr, values or unconstrained.Settings())


def test_stacks_are_cells_of_one_depth_as_many_as_fit() -> None:
    cells = [
        Cell("video", "ucsd", "dust", "constrained", layers, float(eps), 0)
        for layers, count in ((2, 5), (3, 1), (5, 2))
        for eps in range(count)
    ]
    settings = dict.fromkeys(cells, asked())
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=29)] == [2, 2, 2, 1, 1]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=1000)] == [5, 2, 1]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=3)] == [1] * 8
    stacks = plan(cells, settings, 10, 29)
    assert sorted(map(str, cells)) == sorted(str(cell) for stack in stacks for cell in stack)
    costs = [sum(cell.layers for cell in stack) for stack in stacks]
    assert costs == sorted(costs, reverse=True), "the longest first"
    assert plan([], {}, 10, 29) == []


def test_cells_of_another_rate_arm_or_where_asked_seed_do_not_share_a_stack() -> None:
    arms = (("constrained", 0.1), ("constrained", 0.2), ("unconstrained", 0.1))
    settings = {
        Cell("text", "imdb", "ut_text", arm, 3, eps, seed): asked(
            lr, CONSTRAINED if arm == "constrained" else None
        )
        for seed in (0, 1)
        for (arm, lr), values in zip(arms, (CONSTRAINED, CONSTRAINED, None), strict=True)
        for eps in ((0.0, 0.5) if lr == 0.1 else (0.25,))
    }

    def grouped(seeds_apart: bool) -> set[frozenset[tuple]]:
        stacks = plan(list(settings), settings, 1, 1000, seeds_apart)
        assert sorted(map(str, settings)) == sorted(str(cell) for stack in stacks for cell in stack)
        return {frozenset((cell.arm, settings[cell].lr, cell.seed) for cell in stack) for stack in stacks}

    assert grouped(seeds_apart=False) == {frozenset({(*arm, 0), (*arm, 1)}) for arm in arms}
    assert grouped(seeds_apart=True) == {frozenset({(*arm, seed)}) for seed in (0, 1) for arm in arms}


def test_cells_that_differ_in_numbers_of_the_objective_alone_share_a_stack() -> None:
    cells = [Cell("alpha", "imdb", "ut_text", "constrained", 3, 0.4, 0, varied) for varied in "abcde"]
    changes = [
        {},
        {"alpha": 0.5},
        {"dual_lr": 1.0, "rho": 9.0, "R0": 3.0},
        {"resilience": "none"},
        {"cap_layer": 1},
    ]
    values = [CONSTRAINED.model_copy(update=change) for change in changes]
    settings = {cell: asked(values=own) for cell, own in zip(cells, values, strict=True)}
    assert plan(cells, settings, 1, 1000) == [cells[:3], [cells[3]], [cells[4]]]


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


def test_cells_that_another_host_has_just_published_are_waited_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_shared", True)
    store.await_published([])
    store.root().mkdir()
    later = threading.Timer(0.7, store.folder("late").mkdir)
    later.start()
    store.await_published(["late"])
    assert store.folder("late").exists()
    monkeypatch.setattr(store, "VIEW", 0.0)
    with pytest.raises(UserError, match="1 cells or scores of other hosts do not appear in"):
        store.await_published(["late", "never"])
    monkeypatch.setattr(store, "_shared", False)
    store.await_published(["never"])
