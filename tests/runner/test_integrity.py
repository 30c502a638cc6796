"""Damage of every kind to the store: set aside with one line, and made again; nothing is taken as it is."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.io.folders import HERE, PARTIAL
from descent.paths import runs_folder
from descent.runner import integrity, store
from descent.tasks.video.data import Prepared
from stages import check_store
from tests.fakes.core import enter_project, evaluate_cells, serially, small_params, train_cells

WORDS = ("video", "ucsd", "ut")
BUDGET = {"video.models": ["ut"], "profiles.demo.video": {"layers": [2], "eps": [0.13]}}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def file_in_place(path: Path) -> None:
    for inner in path.parent.iterdir():
        inner.unlink()
    path.parent.rmdir()
    path.parent.write_text("no folder")


def of_another(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fingerprint": "0" * 32}))


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "weights cut in half": ("weights.safetensors", cut),
    "weights with one flipped bit": ("weights.safetensors", flip),
    "weights that are empty": ("weights.safetensors", lambda path: path.write_bytes(b"")),
    "weights that are gone": ("weights.safetensors", Path.unlink),
    "a history cut in half": ("history.csv", cut),
    "a history that is gone": ("history.csv", Path.unlink),
    "a record of garbage": ("cell.json", lambda path: path.write_text("{nonsense")),
    "an empty record": ("cell.json", lambda path: path.write_text("")),
    "a record of nothing": ("cell.json", lambda path: path.write_text("{}")),
    "a record that is a list": ("cell.json", lambda path: path.write_text("[]")),
    "another cell's record": ("cell.json", of_another),
    "a file for a folder": ("cell.json", file_in_place),
}


@pytest.fixture(autouse=True)
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return enter_project(tmp_path / "project", monkeypatch)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    return serially(monkeypatch)


def weights_of(runs: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(runs.glob("*/weights.safetensors"))}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_cell_is_set_aside_with_one_line_and_trained_again(
    kind: str, trained: list, capsys: pytest.CaptureFixture
) -> None:
    item = train_cells(small_params(BUDGET), *WORDS)
    before = weights_of(item.runs)
    cell = item.cells[0]
    name = store.record(item.runs, cell)["fingerprint"]
    file, damage = DAMAGE[kind]
    damage(store.folder(name) / file)
    trained.clear()
    capsys.readouterr()
    train_cells(small_params(BUDGET), *WORDS)
    told = [line for line in capsys.readouterr().err.splitlines() if "is damaged" in line]
    assert len(told) == 1 and name in told[0] and "set aside" in told[0]
    assert [names for names in trained if cell.name in names] and len(trained) == 1
    assert weights_of(item.runs) == before, "the same bytes"
    assert (store.root() / f"{name}{integrity.ASIDE}").exists()


def test_what_is_whole_is_taken_as_it_is(trained: list, capsys: pytest.CaptureFixture) -> None:
    train_cells(small_params(BUDGET), *WORDS)
    trained.clear()
    train_cells(small_params(BUDGET), *WORDS)
    assert trained == [] and "damaged" not in capsys.readouterr().err
    check_store.main()
    assert ": 2 whole, 0 damaged" in capsys.readouterr().out


def test_looking_at_a_cell_costs_less_than_a_hundredth_of_training_it(trained: list) -> None:
    item = train_cells(small_params(BUDGET), *WORDS)
    made = store.record(item.runs, item.cells[0])
    place = store.folder(made["fingerprint"])
    began = time.process_time()
    for _ in range(50):
        assert not integrity.fault(place, place.name)
    looked = (time.process_time() - began) / 50
    assert looked < 0.01 * made["made_by"]["seconds"] / made["made_by"]["cells_in_stack"]


@pytest.mark.parametrize("damage", [cut, flip, lambda path: path.write_bytes(b"")])
def test_damaged_scores_are_measured_again(
    damage: Callable[[Path], object], trained: list, capsys: pytest.CaptureFixture
) -> None:
    params = small_params(BUDGET)
    train_cells(params, *WORDS)
    before = evaluate_cells(params, "video", "ucsd")
    file = sorted((store.root() / "scores").glob("*.parquet"))[0]
    damage(file)
    capsys.readouterr()
    pd.testing.assert_frame_equal(evaluate_cells(params, "video", "ucsd"), before)
    assert capsys.readouterr().err.count("is damaged") == 1


@pytest.mark.parametrize("text", ["", "null", "{", '"word"', "[1]"])
def test_a_stack_that_names_no_cells_stops_nobody(text: str, trained: list, capsys: pytest.CaptureFixture) -> None:
    stacks = store.root() / "stacks"
    stacks.mkdir(parents=True)
    (stacks / "torn.json").write_text(text)
    train_cells(small_params(BUDGET), *WORDS)
    assert capsys.readouterr().err.count("is damaged") == 1
    assert not (stacks / "torn.json").exists() and weights_of(runs_folder(*WORDS))


@pytest.mark.parametrize("content", [b"", b"garbage", "a number", "cut"])
def test_a_damaged_checkpoint_is_not_gone_on_from(content: bytes | str, trained: list, tmp_path: Path) -> None:
    from descent.runner.checkpoints import FileCheckpoint

    path = tmp_path / "stack.pt"
    torch.save(3 if content == "a number" else {"model": {}}, path)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "cut":
        cut(path)
    FileCheckpoint(path).restore({"model": torch.nn.Linear(1, 1)}, object(), torch.device("cpu"))
    assert not path.exists() and list(tmp_path.glob(f"*{integrity.ASIDE}"))


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_store_that_is_no_folder_is_one_sentence(kind: str) -> None:
    place = Path(".cells")
    place.write_text("") if kind == "file" else place.symlink_to("nowhere")
    with pytest.raises(UserError, match=r"\.cells should be a folder"):
        train_cells(small_params(BUDGET), *WORDS)


def test_check_store_sets_damage_aside_and_counts(trained: list, capsys: pytest.CaptureFixture) -> None:
    item = train_cells(small_params(BUDGET), *WORDS)
    cell: Cell = item.cells[0]
    flip(store.folder(store.record(item.runs, cell)["fingerprint"]) / "weights.safetensors")
    (store.root() / f".half{PARTIAL}{HERE}1").mkdir()
    capsys.readouterr()
    check_store.main()
    assert ": 1 whole, 2 damaged and set aside" in capsys.readouterr().out
    check_store.main()
    assert ": 1 whole, 0 damaged" in capsys.readouterr().out
