"""The store of finished cells: what is in it is taken, what is missing is trained, nothing stale is used."""

import threading
from pathlib import Path

import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.io.folders import HERE, PARTIAL
from descent.paths import runs_folder
from descent.runner import store
from descent.runner.stored import Stored
from tests.fakes.damage import changed

pytestmark = pytest.mark.usefixtures("project")

CELL = Cell("video", "ucsd", "dust", "constrained", 3, 0.13, 0)
OTHER = Cell("video", "ucsd", "dust", "constrained", 3, 0.5, 0)
WEIGHTS = {"dictionaries": torch.arange(6.0).view(2, 3).T}


SETTING = {"arm": "unconstrained", "lr": 0.1, "values": {}}


def put(fingerprint: str, **values: object) -> None:
    """A cell; `values` of its setting."""
    record = {"fingerprint": fingerprint, "epoch": 1, "setting": SETTING | {"values": values}}
    store.publish(fingerprint, WEIGHTS, "epoch,layer\n1,0\n", record)


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


def test_a_record_that_this_code_does_not_read_is_stale_and_one_that_nobody_wrote_damaged() -> None:
    """Of a searched cell or a follower the record alone has the setting, and is read before it is checked."""
    out = Path("data/runs/item")
    put("a1", of_a_former_code=1.0)
    store.hand_out({CELL: "a1"}, out)
    with pytest.raises(UserError, match=r"other parameters, data or code than params\.yaml asks for now"):
        store.record(out, CELL)
    changed(out / CELL.name / "cell.json", setting=None)
    with pytest.raises(UserError, match=r"is damaged \(cell\.json is not what was written\): run `dvc repro`"):
        store.record(out, CELL)


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
    names = (f"{PARTIAL}{HERE}1", f".{HERE}{1:016x}")  # the second for the moment before the writer has its lock
    others, left = ([place.with_name(f".{place.name}{name}") for name in names] for place in places[1:3])
    left.append(places[2].with_name(f".{places[2].stem}.json{PARTIAL}{HERE}1"))
    for part in (*left, *others):
        part.touch()
    store.close_stack(["a1", "b2"])
    assert not any(part.exists() for part in (places[2], *left)), "what a killed run left goes with it"
    assert all(part.exists() for part in others)
    assert sorted(store.open_stacks()) == [["a1"], ["b2"], ["b2", "a1"]]


def test_cells_that_another_host_has_just_published_are_waited_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_shared", True)
    store.await_written([])
    store.root().mkdir()
    later = threading.Timer(0.7, store.folder("late").mkdir)
    later.start()
    store.await_written([store.folder("late")])
    assert store.folder("late").exists()
    monkeypatch.setattr(store, "VIEW", 0.0)
    with pytest.raises(UserError, match="1 cells or scores of other hosts do not appear in"):
        store.await_written(map(store.folder, ["late", "never"]))
    monkeypatch.setattr(store, "_shared", False)
    store.await_written([store.folder("never")])
