"""The training stage: it trains what is missing, in stacks that fit, and tells how far it is."""

from collections.abc import Callable

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
from descent.tasks.common.items import of_study
from descent.tasks.video.data import Prepared
from descent.training import stack
from descent.training.arm import Setting
from tests.fakes.core import item_of, small_params, train_cells, values
from tests.fakes.dust import BUDGET, ITEM, OUT, names

ARMS = ("constrained", "unconstrained")


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
    assert of_study(small_params({"video.models": ["ut"]}), "infeasible") == []
    assert of_study(small_params({"video.datasets": []}), "infeasible") == []


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


@pytest.mark.parametrize("inputs", [None, 1], ids=["several steps", "one step"])
def test_progress_is_told_within_an_epoch_and_adds_up(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, inputs: int | None
) -> None:
    told: list[int] = []

    def run_all(jobs: list[Job], *others: object) -> None:
        for job in jobs:
            job.work(job.stack, told.append)

    monkeypatch.setattr(items, "run_all", run_all)
    budget = {f"{BUDGET}.epochs": 2, f"{BUDGET}.eps": [], f"{BUDGET}.layers": [2]}
    train_cells(small_params(budget | ({f"{BUDGET}.epoch_inputs": inputs} if inputs else {})), *ITEM)
    assert sum(told) == len(ARMS) * 2 * stacks.TICKS and min(told) > 0
    assert any(count < stacks.TICKS for count in told) == (inputs is None), "before an epoch has ended"
