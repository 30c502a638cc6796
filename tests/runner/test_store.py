"""The store of finished cells: what is in it is taken, what is missing is trained, nothing stale is used."""

import json
from pathlib import Path

import pytest
import torch

from descent.cells import Cell, runs_folder
from descent.errors import UserError
from descent.runner import store
from descent.runner.fingerprint import closure, digest
from descent.training.settings import Setting
from descent.training.stacks import plan
from tests.fakes.core import enter_project, small_params, video_item

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
    out = runs_folder("video", "ucsd", "dust", "constrained")
    store.hand_out({CELL: "a1"}, out)
    store.check(out, CELL, "a1")
    weights, record = store.weights(out, CELL), store.record(out, CELL)
    assert torch.equal(weights["dictionaries"], WEIGHTS["dictionaries"]) and record["epoch"] == 1
    assert (out / "L3-eps0.13-seed0" / "history.csv").read_text() == "epoch,layer\n1,0\n"


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
    with pytest.raises(UserError, match=r"item/L3-eps0\.13-seed0 is missing: run `dvc repro`"):
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


def test_stacks_are_cells_of_one_depth_as_many_as_fit() -> None:
    cells = [
        Cell("video", "ucsd", "dust", "constrained", layers, float(eps), 0)
        for layers, count in ((2, 5), (3, 1), (5, 2))
        for eps in range(count)
    ]
    settings = dict.fromkeys(cells, Setting(0.1))
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=29)] == [2, 2, 1, 1, 2]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=1000)] == [5, 1, 2]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=3)] == [1] * 8
    assert [cell for stack in plan(cells, settings, 10, 29) for cell in stack] == cells
    assert plan([], {}, 10, 29) == []


def test_cells_of_another_rate_arm_or_where_asked_seed_do_not_share_a_stack() -> None:
    asked = [
        (Cell("text", "imdb", "ut_text", method, 3, eps, seed), Setting(lr))
        for seed in (0, 1)
        for method, lr in (("constrained", 0.1), ("constrained", 0.2), ("unconstrained", 0.1))
        for eps in ((0.0, 0.5) if lr == 0.1 else (0.25,))
    ]
    settings = dict(asked)

    def grouped(seeds_apart: bool) -> list[set[tuple]]:
        stacks = plan(list(settings), settings, 1, 1000, seeds_apart)
        assert sorted(map(str, settings)) == sorted(str(cell) for stack in stacks for cell in stack)
        return [{(cell.method, settings[cell].lr, cell.seed) for cell in stack} for stack in stacks]

    arms = (("constrained", 0.1), ("constrained", 0.2), ("unconstrained", 0.1))
    assert grouped(seeds_apart=False) == [{(*arm, 0), (*arm, 1)} for arm in arms]
    assert grouped(seeds_apart=True) == [{(*arm, seed)} for seed in (0, 1) for arm in arms]


def fingerprint(changes: dict, method: str = "constrained", model: str = "dust", experiment: str = "video") -> str:
    item = video_item(small_params(changes), experiment, "ucsd", model, method)
    (setting,) = set(map(json.dumps, (setting.definition() for setting in item.settings.values())))
    cell = Cell(experiment, "ucsd", model, method, 3, 0.13, 0)
    return item.fingerprint(cell, Setting.recorded(json.loads(setting)))


RELEVANT = [
    {f"{BUDGET}.dust.lr": 0.5},
    {f"{BUDGET}.tokens": 4},
    {f"{BUDGET}.batch": 3},
    {f"{BUDGET}.epochs": 9},
    {f"{BUDGET}.epoch_sequences": None},
    {f"{BUDGET}.validation_sequences": 9},
    {f"{BUDGET}.atoms": 16},
    {"models.dust.threshold": 0.5},
    {"models.dust.kappa": 0.5},
    {"video.noise_scale": 0.25},
    {"video.patch_loss": "mean"},
    {"video.report": "final"},
    {"training.clip_norm": 0.5},
    {"training.schedule": "constant"},
    {"training.precision": "bf16"},
]
OF_THE_CONSTRAINED = [
    {"primal_dual.dust.alpha": 0.5},
    {"primal_dual.dust.R0": 9.0},
    {"primal_dual.dust.warmup_epochs": 2},
    {f"{BUDGET}.dust.dual_lr": 0.5},
    {"models.dust.dictionaries.constrained": "shared"},
]
IRRELEVANT = [
    {"training.checkpoint_seconds": 1.0},
    {"training.stack_elements": {"cpu": 1, "cuda": 1}},
    {"evaluation": {"gammas": [0.7], "seed": 9, "batch": 9, "noise_draws": 1}},
    {"method": "unconstrained"},
    {"device": "auto"},
    {"eps": 0.4},
    {BUDGET: {"layers": [7], "eps": [0.9], "seeds": [3], "test_sequences": 7}},
    {"video.models": ["dust"], "video.methods": ["constrained"]},
    {"local_data": "elsewhere"},
    {"infeasible": {"layers": 9}, "infeasible.primal_dual": {"alpha": 0.1}},
    {"primal_dual.ut.alpha": 0.5, "models.ut.residual": False, f"{BUDGET}.ut.lr": 0.5},
    {"models.dust.dictionaries.unconstrained": "per_layer"},
    {"text": {"eps": 0.9, "tolerance": 0.9, "report": "final"}, "ablation.eps": 0.9},
    {"profiles.demo.text.max_tokens": 9, "primal_dual.ut_text.alpha": 0.9},
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
    for changes in (*RELEVANT, {"models.dust.dictionaries.unconstrained": "per_layer"}):
        assert fingerprint(changes, "unconstrained") != free, changes


def test_the_infeasible_experiment_depends_on_its_own_section() -> None:
    name = fingerprint({}, experiment="infeasible")
    assert fingerprint({"infeasible.primal_dual": {"alpha": 0.1}}, experiment="infeasible") != name
    assert fingerprint({"primal_dual.dust.alpha": 0.5}, experiment="infeasible") == name, "replaced there"


def test_a_fingerprint_changes_with_the_data_and_with_the_code_of_its_own_model(project: Path) -> None:
    before = {model: fingerprint({}, model=model) for model in ("dust", "ut")}
    meta = project / "data" / "prepared" / "ucsd" / "meta.json"
    text = meta.read_text()
    meta.write_text(text.replace('"digest": "', '"digest": "0'))
    assert fingerprint({}) != before["dust"]
    meta.write_text(text)
    for name in ("models/ut.py", "evaluation/sweeps.py", "figures/style.py"):
        with (project / "src" / "descent" / name).open("a") as file:
            file.write("\nADDED = 1\n")
    assert fingerprint({}) == before["dust"] and fingerprint({}, model="ut") != before["ut"]
    for name in ("training/loop.py", "primal_dual/constraints.py", "models/layers.py", "objectives.py"):
        one = fingerprint({})
        with (project / "src" / "descent" / name).open("a") as file:
            file.write("\nADDED = 1\n")
        assert fingerprint({}) != one, name


def test_the_code_digest_follows_imports_and_ignores_comments_and_docstrings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "other" / "src" / "descent"
    package.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "other")
    a, b, c = (Path("src/descent") / name for name in ("a.py", "b.py", "schema_text.py"))

    def now(text: str = 'def f():\n    """Says."""\n    return 1\n', schema: str = "x = 1\n") -> str:
        a.write_text('"""A."""\nfrom descent import b\nfrom descent.schema_text import x\ny = b.f()\n')
        b.write_text(text)
        c.write_text(schema)
        return digest(["descent.a"])

    first = now()
    assert closure(["descent.a"]) == {a, b, c}
    assert now('# why\n\ndef f():\n    """Says more."""\n    return  (1)  # so\n') == first
    changed = now('def f():\n    """Says."""\n    return 2\n')
    assert changed != first
    assert now('def f():\n    """Says."""\n    return "1"\n') not in (first, changed)
    assert now(schema="x = 2\n") == first, "what params.yaml says enters by value"


def test_adding_a_docstring_does_not_change_the_code_digest(project: Path) -> None:
    file = project / "src" / "descent" / "objectives.py"
    file.write_text("def f():\n    return 1\n")
    before = digest(["descent.training.losses"])
    file.write_text('"""Losses."""\n\n\ndef f():\n    """One."""\n    return 1\n')
    assert digest(["descent.training.losses"]) == before
