"""The training stage: it trains what is missing, in stacks, and survives being killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from descent.cells import WHY
from descent.config import Params
from descent.errors import UserError
from descent.paths import runs_folder, study_runs_folder
from descent.runner import items, stacks, store
from descent.runner.executor import Job
from descent.runner.stored import Stored
from descent.schema import validated
from descent.tasks.video.data import Prepared
from descent.training import stack
from descent.training.arm import Setting
from tests.fakes.core import (
    enter_project,
    environment,
    item_of,
    make_project,
    serially,
    small_params,
    train_cells,
    values,
    write_params,
)

BUDGET = "profiles.demo.video"
ITEM = ("video", "ucsd", "dust")
ARMS = ("constrained", "unconstrained")
OUT = runs_folder(*ITEM)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return enter_project(tmp_path / "project", monkeypatch)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The stacks that were trained, by their cells' names."""
    return serially(monkeypatch)


def names(out: Path = OUT) -> list[str]:
    return sorted(path.name for path in out.iterdir())


def of(eps: float, *depths: int) -> list[list[str]]:
    """A stack for each arm and depth, of one cell."""
    return [[f"{arm}-L{depth}-eps{eps}-seed0"] for arm in ARMS for depth in depths]


def test_only_what_is_missing_is_trained(prepared: Prepared, trained: list) -> None:
    budget = {f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [0.0]}
    train_cells(small_params({"eps": 0.0} | budget), *ITEM)
    assert sorted(trained) == sorted(of(0.0, 2, 3)) and names() == sorted(name for (name,) in of(0.0, 2, 3))
    kept = (OUT / "constrained-L3-eps0.0-seed0" / "weights.safetensors").read_bytes()
    train_cells(small_params({"eps": 0.2} | budget), *ITEM)
    assert sorted(trained[4:]) == sorted(of(0.2, 2, 3))
    assert names() == sorted(name for (name,) in of(0.0, 2, 3) + of(0.2, 2, 3))
    assert (OUT / "constrained-L3-eps0.0-seed0" / "weights.safetensors").read_bytes() == kept
    train_cells(small_params({"eps": 0.0} | budget), *ITEM)
    assert len(trained) == 8 and names() == sorted(name for (name,) in of(0.0, 2, 3))
    assert not list((store.root() / "stacks").glob("*.pt"))


def test_items_train_together_and_cells_that_two_of_them_share_once(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, known = [], items.run_all

    def run_all(jobs: list[Job], device: torch.device, tell: Callable[[int], None]) -> None:
        told.append([(job.stack[0].model, job.stack[0].arm) for job in jobs])
        known(jobs, device, tell)

    monkeypatch.setattr(items, "run_all", run_all)
    words, models = ("video", "ucsd"), ("ut", "dust", "dust_per_layer")
    params = small_params({f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [], f"{BUDGET}.layers": [2]})
    items.train("all", [item_of(params, *words, model) for model in models])
    [jobs] = told
    assert set(jobs) == {(model, arm) for model in models for arm in ARMS} - {("dust_per_layer", "constrained")}
    assert len(jobs) == 5
    first, second = (runs_folder(*words, model) / "constrained-L2-eps0.13-seed0" for model in models[1:])
    assert (first / "weights.safetensors").read_bytes() == (second / "weights.safetensors").read_bytes()
    items.train("all", [item_of(params, *words, model) for model in models])
    assert told[1:] == [[]]


def test_another_arm_trains_its_cells_and_no_others(prepared: Prepared, trained: list) -> None:
    budget = {f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [0.0], "eps": 0.0}
    train_cells(small_params(budget), *ITEM)
    more = [*ARMS, "deep_supervision"]
    train_cells(small_params(budget | {"arms": more}), *ITEM)
    assert trained[4:] == [[f"deep_supervision-L{depth}-eps0.0-seed0"] for depth in (3, 2)] and len(names()) == 6
    fewer = {"arms": more[1:], "method": "unconstrained"}
    ours = {"comparison": {"ours": "deep_supervision", "baseline": "unconstrained"}}
    train_cells(small_params(budget | fewer | ours), *ITEM)
    assert len(trained) == 6 and not any(name.startswith("constrained") for name in names())


def test_cells_of_one_depth_and_arm_train_together_within_the_limit(prepared: Prepared, trained: list) -> None:
    elements = 7 * 3 * 64  # batch * tokens * atoms
    changes = {f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [0.0, 0.5], "training.stack_elements.cpu": 2 * elements}
    train_cells(small_params({"eps": 0.2} | changes), *ITEM)
    assert [len(cells) for cells in trained] == [2] * 4 + [1] * 4 and len(names()) == 12
    assert all(len({name.split("-")[0] for name in cells}) == 1 for cells in trained)


def test_a_study_trains_its_arms_and_a_left_out_one_nothing(prepared: Prepared, trained: list) -> None:
    train_cells(small_params({f"{BUDGET}.epochs": 2}), "infeasible")
    assert trained == [[f"{arm}-L3-eps0.3-seed0"] for arm in ("unconstrained", "constrained")]
    assert names(study_runs_folder("infeasible")) == sorted(name for (name,) in trained)
    assert item_of(small_params({"video.models": ["ut"]}), "infeasible") is None
    assert item_of(small_params({"video.datasets": []}), "infeasible") is None


def test_a_study_of_a_model_without_a_rate_names_the_missing_key(prepared: Prepared) -> None:
    found = values()
    del found["profiles"]["demo"]["video"]["models"]["dust"]["lr"]
    params = validated(Params, found, "params.yaml")
    with pytest.raises(UserError, match=r"models\.dust is not right:\n  lr: missing key"):
        item_of(params, "infeasible")


def test_a_finished_cell_says_what_it_is_and_holds_its_own_weights(prepared: Prepared, trained: list) -> None:
    params = small_params()
    train_cells(params, *ITEM)
    item = item_of(params, *ITEM)
    cell = [cell for cell in item.cells if cell.arm == "constrained"][-1]
    store.check(OUT, cell, item.fingerprint(cell, item.settings[cell]))
    neighbour = item.cells[item.cells.index(cell) - 1]
    weights, record = Stored(OUT / cell.name).weights, store.record(OUT, cell)
    assert weights["dictionaries"].shape == (3, 16, 64)
    assert record["cell"] == {key: value for key, value in vars(cell).items() if key not in WHY}
    assert record["diverged"] is False and 1 <= record["epoch"] <= 4
    history = pd.read_csv(OUT / cell.name / "history.csv")
    assert len(history) == 4 * 4 and history.notna().all(axis=None)
    assert Setting.recorded(record["setting"]) == item.settings[cell]
    assert not torch.equal(Stored(OUT / neighbour.name).weights["dictionaries"], weights["dictionaries"])


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
    train_cells(params, *ITEM)
    assert began == [1, 2, 3, 3, 4, *[1, 2, 3, 4] * 3] and len(names()) == 12


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


def test_a_stack_that_does_not_fit_the_gpu_is_told_with_what_to_lower(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **others: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB.\nmore")

    monkeypatch.setattr(stack, "train", full)
    told = (
        r"3 cells of ucsd-dust-constrained, L = 3.*lower training\.stack_elements\.cuda \(now 100000\).*9 GiB\.\)$"
    )
    with pytest.raises(UserError, match=told):
        train_cells(small_params(), *ITEM)


def test_a_stack_that_did_not_fit_is_begun_in_smaller_ones_where_the_limit_was_lowered(
    prepared: Prepared, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = stack.train

    def small_memory(model: torch.nn.Module, *arguments: object, **others: object) -> object:
        if next(model.parameters()).shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return original(model, *arguments, **others)

    monkeypatch.setattr(stack, "train", small_memory)
    few = {f"{BUDGET}.epochs": 2, f"{BUDGET}.layers": [2]}
    for _ in range(2):
        with pytest.raises(UserError, match=r"3 cells of .* lower training\.stack_elements"):
            train_cells(small_params(few), *ITEM)
    assert trained[0] == trained[1] and len(trained[0]) == 3, "else the same stack is gone on with"
    trained.clear()
    train_cells(small_params(few | {"training.stack_elements.cpu": 2 * 7 * 3 * 64}), *ITEM)
    assert sorted(map(len, trained)) == [1, 1, 2, 2] and len(names()) == 6
    train_cells(small_params(few), *ITEM)
    assert len(trained) == 4 and not list((store.root() / "stacks").iterdir()), "the large one is closed"


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
        assert all(record["made_by"].pop(word) > 0 for record in records for word in ("seconds", "finished"))
        assert all(record.pop("files") for record in records), "their histories hold other seconds"
        assert records[0] == records[1]
        tables = [pd.read_csv(place / "history.csv").drop(columns="seconds") for place in (one, two)]
        pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert not list((killed / ".cells" / "stacks").glob("*.pt"))


def test_progress_is_told_within_an_epoch_and_adds_up(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def run_all(jobs: list[Job], *others: object) -> None:
        for job in jobs:
            job.work(job.stack, told.append)

    monkeypatch.setattr(items, "run_all", run_all)
    train_cells(small_params({f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [], f"{BUDGET}.layers": [2]}), *ITEM)
    assert sum(told) == len(ARMS) * 2 * stacks.PARTS and min(told) > 0
    assert any(count < stacks.PARTS for count in told), "before an epoch has ended"
