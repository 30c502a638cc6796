"""Damage of every kind to the store: set aside with one line, and made again; nothing is taken as it is."""

import errno
import os
import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from descent.analysis import results
from descent.cells import Cell
from descent.errors import UserError
from descent.io.folders import HERE, PARTIAL
from descent.paths import runs_folder
from descent.runner import integrity, scores, store
from descent.runner.checkpoints import FileCheckpoint
from descent.runner.executor import Job
from stages import check_store
from tests.fakes.core import evaluate_cells, small_params, train_cells
from tests.fakes.damage import BUDGET, DAMAGE, WORDS, cut, flip, flip_a_page, weights_of

pytestmark = pytest.mark.usefixtures("prepared")


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


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT])
def test_what_a_drive_that_is_away_says_is_no_damage(
    number: int, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = train_cells(small_params(BUDGET), *WORDS)
    name = store.record(item.runs, item.cells[0])["fingerprint"]

    def away(path: Path) -> str:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patched, pytest.raises(OSError, match=re.escape(os.strerror(number))):
        patched.setattr(integrity, "digest_of", away)
        store.has(name)
    assert store.has(name), "it lies where it lay"


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


@pytest.mark.parametrize("damage", [cut, flip, flip_a_page, lambda path: path.write_bytes(b"")])
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


def rename_a_column(path: Path) -> None:
    """As a flipped bit does: pages have checksums, and the names of columns have none."""
    pd.read_parquet(path).rename(columns={"layer": "layEr"}).to_parquet(path)


def test_a_column_of_another_name_is_damage(trained: list, capsys: pytest.CaptureFixture) -> None:
    params = small_params(BUDGET)
    train_cells(params, *WORDS)
    before = evaluate_cells(params, "video", "ucsd")
    file = sorted((store.root() / "scores").glob("*.parquet"))[0]
    rename_a_column(file)
    found = dict(integrity.survey(store.root(), results.COLUMNS))
    assert found.pop(file) == "ValueError reading it" and not any(found.values())
    pd.testing.assert_frame_equal(evaluate_cells(params, "video", "ucsd"), before)
    assert capsys.readouterr().err.count("is damaged") == 1


def test_a_gpu_that_is_full_in_tests_is_told_what_to_lower_there(
    trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = small_params(BUDGET)
    train_cells(params, *WORDS)

    def full(*args: object, **options: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr("descent.tasks.video.evaluate.sweep", full)
    with pytest.raises(UserError, match=r"testing \d+ cells of ucsd-\w+: end other .*lower evaluation\.batch"):
        evaluate_cells(params, "video", "ucsd")


def test_a_stack_that_is_finished_while_the_store_is_looked_at_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks = tmp_path / "store" / "stacks"
    stacks.mkdir(parents=True)
    for name in ("a.json", "b.json"):
        (stacks / name).write_text("[]")
    stacked = integrity.stacked

    def finished(file: Path) -> list[str]:
        if file.name == "a.json":
            file.unlink()
        return stacked(file)

    monkeypatch.setattr(integrity, "stacked", finished)
    assert [place.name for place, _ in integrity.survey(tmp_path / "store", results.COLUMNS)] == ["b.json"]


def test_scores_that_another_host_has_just_written_are_waited_for(
    trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = small_params(BUDGET)
    train_cells(params, *WORDS)
    expected = evaluate_cells(params, "video", "ucsd")
    here = store.root() / "scores"
    there = here.rename(here.with_name("there"))

    def elsewhere(jobs: list[Job], device: torch.device, tell: Callable) -> list[object]:
        threading.Timer(0.7, there.rename, [here]).start()
        references, *scored = jobs  # the rows of filters are no scores
        return [references.work(references.stack, tell), *[None] * len(scored)]

    monkeypatch.setattr(scores, "run_all", elsewhere)
    monkeypatch.setattr(store, "_shared", True)
    pd.testing.assert_frame_equal(evaluate_cells(params, "video", "ucsd"), expected)


@pytest.mark.parametrize(
    "text", [b"", b"null", b"{", b'"word"', b"[1]", b"\xff", b"[" * 100_000], ids=lambda text: repr(text[:8])
)
def test_a_stack_that_names_no_cells_stops_nobody(
    text: bytes, trained: list, capsys: pytest.CaptureFixture
) -> None:
    stacks = store.root() / "stacks"
    stacks.mkdir(parents=True)
    (stacks / "torn.json").write_bytes(text)
    train_cells(small_params(BUDGET), *WORDS)
    assert capsys.readouterr().err.count("is damaged") == 1
    assert not (stacks / "torn.json").exists() and weights_of(runs_folder(*WORDS))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"garbage"),
        lambda path: torch.save(3, path) or integrity.seal(path),
        lambda path: torch.save({"model": {}}, path),  # of nobody that seals
        cut,
        lambda path: flip(path, at=path.stat().st_size // 2),
    ],
    ids=["empty", "garbage", "a number", "not sealed", "cut", "flipped"],
)
def test_a_damaged_checkpoint_is_not_gone_on_from(
    damage: Callable[[Path], object], trained: list, tmp_path: Path
) -> None:
    path = tmp_path / "stack.pt"
    torch.save({"model": torch.nn.Linear(1, 1).state_dict(), "run": {}}, path)
    integrity.seal(path)
    damage(path)
    FileCheckpoint(path).restore({"model": torch.nn.Linear(1, 1)}, object(), torch.device("cpu"))
    assert not path.exists() and list(tmp_path.glob(f"*{integrity.ASIDE}"))


def test_a_flipped_bit_in_a_checkpoint_costs_time_and_changes_nothing(
    trained: list, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    params = small_params(
        BUDGET
        | {"profiles.demo.video": BUDGET["profiles.demo.video"] | {"epochs": 2}}
        | {"training.checkpoint_seconds": 0.0}
    )
    save = FileCheckpoint.save

    def end_after(own: FileCheckpoint, *state: object) -> None:
        save(own, *state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(FileCheckpoint, "save", end_after)
        train_cells(params, *WORDS)
    (file,) = (store.root() / "stacks").glob("*.pt")
    flip(file, at=file.stat().st_size // 2)
    found = weights_of(train_cells(params, *WORDS).runs)
    assert capsys.readouterr().err.count("it is no checkpoint") == 1
    shutil.rmtree(store.root())
    assert found == weights_of(train_cells(params, *WORDS).runs) and len(found) == 2


def test_a_stack_that_was_published_whole_and_not_closed_is_closed_by_the_next_run(trained: list) -> None:
    item = train_cells(small_params(BUDGET), *WORDS)
    names = [store.record(item.runs, cell)["fingerprint"] for cell in item.cells]
    state = store.open_stack(names)
    state.write_text("state")
    aside = state.with_name(f"{state.name}{integrity.ASIDE}")
    aside.write_text("for whoever wants to look at it")
    store.open_stack(["of another item"])
    train_cells(small_params(BUDGET), *WORDS)
    assert store.open_stacks() == [["of another item"]] and not list((store.root() / "stacks").glob("*.pt"))
    assert aside.exists()


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
    evaluate_cells(small_params(BUDGET), "video", "ucsd")
    cut(sorted((store.root() / "scores").glob("*.parquet"))[0])
    (store.root() / "stacks/torn.json").write_text("null")
    (store.root() / "stacks/torn.pt").write_text("garbage")
    capsys.readouterr()
    check_store.main()
    assert ": 2 whole, 5 damaged and set aside" in capsys.readouterr().out
    check_store.main()
    assert ": 2 whole, 0 damaged" in capsys.readouterr().out


def test_what_goes_into_the_store_reaches_the_disk_before_its_name(
    trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut would else leave names of files without content."""
    written, named = set(), []
    sync, rename, replace = os.fsync, Path.rename, Path.replace

    def synced(handle: int) -> None:
        written.add(os.fstat(handle).st_ino)
        sync(handle)

    def moved(how: Callable) -> Callable:
        def move(own: Path, to: Path) -> Path:
            if store.root().resolve() in own.resolve().parents and PARTIAL not in to.name:
                files = own.iterdir() if own.is_dir() else [own]
                named.extend((file.name, file.stat().st_ino in written) for file in files)
            return how(own, to)

        return move

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", moved(rename))
    monkeypatch.setattr(Path, "replace", moved(replace))
    params = small_params(BUDGET | {"training.checkpoint_seconds": 0.0})
    train_cells(params, *WORDS)
    evaluate_cells(params, "video", "ucsd")
    kinds = {Path(name.split(".partial")[0]).name for name, _ in named}
    assert {"weights.safetensors", "history.csv", "cell.json"} <= kinds and len(named) > 8
    late = [name for name, there in named if not there and ".json" not in name]
    assert not late, "renamed before they were written"
