"""The training stage survives being killed: it goes on from its checkpoints and trains no cell twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import torch

from descent.io import progress
from descent.runner import store
from descent.runner.stacks import TICKS
from descent.tasks.video.data import Prepared
from descent.training import stack
from tests.fakes.core import environment, make_project, small_params, train_cells, write_params
from tests.fakes.dust import BUDGET, ITEM, OUT, names


def test_an_interrupted_stage_goes_on_from_its_checkpoint(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = small_params({"training.checkpoint_seconds": 0.0})
    began: list[int] = []
    original = stack.train

    def fragile(*arguments: object, progress: object, **others: object) -> object:
        def tell(epoch: int, f: torch.Tensor) -> None:
            began.append(epoch)
            if len(began) == 3:
                raise KeyboardInterrupt
            progress(epoch, f)

        return original(*arguments, progress=tell, **others)

    monkeypatch.setattr(stack, "train", fragile)
    with pytest.raises(KeyboardInterrupt):
        train_cells(params, *ITEM)
    assert not OUT.exists() and len(list((store.root() / "stacks").glob("*.pt"))) == 1
    told: list[tuple] = []
    tell = progress.Bar.tell
    monkeypatch.setattr(progress.OneBar, "tell", lambda bar, *own: told.append(own) or tell(bar, *own))
    train_cells(params, *ITEM)
    assert began == [1, 2, 3, 3, 4, *[1, 2, 3, 4] * 3] and len(names()) == 12
    before = [done for done, *known in told if any(known)]
    assert before == [2 * TICKS * 3], "two epochs of three cells, which say nothing of the time that is left"
    assert sum(done for done, *_ in told) == 4 * TICKS * 12


def test_a_stage_killed_while_it_publishes_a_stack_trains_it_again_in_the_same_company(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    params, original = small_params({"training.checkpoint_seconds": 0.0}), store.publish

    def once(*arguments: object) -> None:
        original(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "publish", once)
    with pytest.raises(KeyboardInterrupt):
        train_cells(params, *ITEM)
    monkeypatch.setattr(store, "publish", original)
    train_cells(params, *ITEM)
    assert trained[0] == trained[1], "the same stack, so that its checkpoint is found"


def test_no_cell_is_trained_twice_after_two_interruptions_with_other_grids(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*arguments: object, **others: object) -> None:
        raise KeyboardInterrupt

    def go(*eps: float) -> None:
        train_cells(small_params({f"{BUDGET}.eps": list(eps), f"{BUDGET}.layers": [2]}), *ITEM)

    original = stack.train
    monkeypatch.setattr(stack, "train", die)
    for grid in ((0.0, 0.13, 0.5), (0.13,)):
        with pytest.raises(KeyboardInterrupt):
            go(*grid)
    monkeypatch.setattr(stack, "train", original)
    go(0.0, 0.13, 0.5)
    names = [name for cells in trained[2:] for name in cells]
    assert sorted(names) == sorted(set(names))


def test_words_of_a_study_that_are_one_setting_train_once_and_go_on_in_the_same_company(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {"vary": None, "overrides": {}, "named": {"a": {}, "b": {}, "other": {"alpha": 0.4}}}
    params = small_params({"study.infeasible": named, f"{BUDGET}.epochs": 2})

    def die(*arguments: object, **others: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(stack, "train", die)
        train_cells(params, "infeasible")
    item = train_cells(params, "infeasible")
    ours = [f"constrained-L3-eps0.3-seed0-{word}" for word in ("a", "other")]
    assert trained == [ours, ours, ["unconstrained-L3-eps0.3-seed0"]]
    assert names(item.runs) == sorted(cell.name for cell in item.cells) and len(item.cells) == 4
    one, two = ((item.runs / f"constrained-L3-eps0.3-seed0-{word}/cell.json").read_text() for word in "ab")
    assert one == two


def start(project: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "stages.train", *ITEM]
    return subprocess.Popen(command, cwd=project, env=environment(), stderr=subprocess.DEVNULL)


def kill(process: subprocess.Popen, project: Path) -> None:
    """SIGKILL the stage, not its workers, once it has written a checkpoint."""
    began, deadline = time.time(), time.monotonic() + 120
    while not any(path.stat().st_mtime > began for path in (project / ".cells" / "stacks").glob("*.pt")):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_a_stage_killed_twice_ends_with_the_weights_of_an_undisturbed_one(tmp_path: Path) -> None:
    plan = {"training.checkpoint_seconds": 0.0, f"{BUDGET}.epochs": 40, f"{BUDGET}.eps": [0.5]}
    projects = [make_project(tmp_path / name) for name in ("calm", "killed")]
    for project in projects:
        write_params(project, plan)
    calm, killed = projects
    assert start(calm).wait() == 0
    for _ in range(2):
        kill(start(killed), killed)
        assert not (killed / OUT).exists()
    assert start(killed).wait() == 0
    assert len(names(calm / OUT)) == 8 and names(killed / OUT) == names(calm / OUT)
    for name in names(calm / OUT):
        one, two = calm / OUT / name, killed / OUT / name
        assert (one / "weights.safetensors").read_bytes() == (two / "weights.safetensors").read_bytes()
        records = [json.loads((place / "cell.json").read_text()) for place in (one, two)]
        assert all(
            record["made_by"].pop(word) > 0 for record in records for word in ("seconds", "began", "finished")
        )
        assert all(record.pop("files") for record in records), "their histories hold other seconds"
        assert records[0] == records[1]
        tables = [pd.read_csv(place / "history.csv").drop(columns="seconds") for place in (one, two)]
        pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert not list((killed / ".cells" / "stacks").glob("*.pt"))
