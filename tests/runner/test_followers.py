"""Arms that follow another's cells, and names that share cells."""

import json

import numpy as np
import pandas as pd
import pytest

from descent.cells import Cell
from descent.errors import UserError
from descent.runner import store
from descent.tasks.video.data import Prepared
from tests.fakes.core import evaluate_cells, item_of, small_params, train_cells

WORDS = ("video", "ucsd", "dust")
REPLAYS = {
    "arms": ["constrained", "unconstrained", "replay", "replay_positive"],
    "objectives.replay": {},
    "objectives.replay_positive": {},
    "models.dust.arms": {
        arm: {"dictionaries": "per_layer"} for arm in ("constrained", "replay", "replay_positive")
    },
    "video.models": ["dust"],
    "profiles.demo.video": {"layers": [2], "eps": [0.5], "epochs": 6},
    "eps": 0.5,
}


@pytest.mark.slow
def test_a_replay_trains_after_its_twin_on_the_mean_of_the_twin_s_weights(
    prepared: Prepared, trained: list
) -> None:
    item = train_cells(small_params(REPLAYS), *WORDS)
    order = [name.split("-")[0] for names in trained for name in names]
    assert order.index("constrained") < order.index("replay") and len(order) == 4
    log = pd.read_csv(item.runs / "constrained-L2-eps0.5-seed0" / "history.csv")
    after = log[log["epoch"] > 1]  # the first is the warm-up
    expected = after.groupby("layer")["weight_mean"].mean().to_numpy()
    assert np.abs(expected - [0, 0, 1]).max() > 1e-3, "the twin's constraints acted"
    for arm in ("replay", "replay_positive"):
        cell = Cell(*WORDS, arm, 2, 0.5, 0)
        weights = store.record(item.runs, cell)["setting"]["values"]["weights"]
        np.testing.assert_allclose(weights, expected, rtol=1e-6)
        used = pd.read_csv(item.runs / cell.name / "history.csv").groupby("layer")["weight_mean"].mean()
        floor = 0 if arm == "replay_positive" else -np.inf
        np.testing.assert_allclose(used, np.maximum(expected, floor), rtol=1e-5)
    rows = evaluate_cells(small_params(REPLAYS), "video", "ucsd")
    assert set(rows.query("metric == 'rmse' and layers == 2")["arm"]) == set(REPLAYS["arms"])


def test_a_replay_has_the_rate_of_its_twin(prepared: Prepared, trained: list) -> None:
    own = {"profiles.demo.video.models.dust.arms": {"constrained": {"dual_lr": 0.05, "lr": 0.02}}}
    item = train_cells(small_params(REPLAYS | own), *WORDS)
    rates = {
        arm: store.record(item.runs, Cell(*WORDS, arm, 2, 0.5, 0))["setting"]["lr"] for arm in REPLAYS["arms"]
    }
    assert rates == {"constrained": 0.02, "replay": 0.02, "replay_positive": 0.02, "unconstrained": 0.01}


def test_a_replay_of_a_twin_that_diverged_is_lost_with_it(prepared: Prepared, trained: list) -> None:
    own = {"profiles.demo.video.models.dust.arms": {"constrained": {"dual_lr": 0.05, "lr": 1e6}}}
    item = train_cells(small_params(REPLAYS | own), *WORDS)
    lost = {arm: store.record(item.runs, Cell(*WORDS, arm, 2, 0.5, 0))["diverged"] for arm in REPLAYS["arms"]}
    assert lost == {"constrained": True, "replay": True, "replay_positive": True, "unconstrained": False}


def test_a_second_run_of_followers_takes_them_from_the_store(prepared: Prepared, trained: list) -> None:
    train_cells(small_params(REPLAYS), *WORDS)
    trained.clear()
    train_cells(small_params(REPLAYS), *WORDS)
    assert trained == []


def test_a_follower_without_its_leader_is_one_sentence(prepared: Prepared, trained: list) -> None:
    alone = REPLAYS | {"arms": ["unconstrained", "replay"], "method": "unconstrained"}
    alone["comparison"] = {"ours": "replay", "baseline": "unconstrained"}
    with pytest.raises(
        UserError, match="replay takes its weights from the cells of constrained, and there are none"
    ):
        train_cells(small_params(alone), *WORDS)


@pytest.mark.parametrize(
    "varied", [{"vary": "alpha", "named": {}}, {"vary": None, "named": {"a": {"alpha": 0.4}}}]
)
def test_a_follower_beside_a_leader_that_is_varied_without_it_is_told_so(prepared: Prepared, varied: dict) -> None:
    study = {"study.infeasible": varied | {"beside": ["replay"], "overrides": {}}, "objectives.replay": {}}
    params = small_params(study | {"profiles.demo.studies.infeasible": {"values": [0.2], "seeds": [0]}})
    told = (
        r"study\.infeasible: replay takes its weights from the cell of constrained with the same value of what is"
    )
    with pytest.raises(UserError, match=rf"{told} varied, and one of the two alone is varied: take replay out"):
        train_cells(params, "infeasible")


def test_names_of_one_code_and_one_setting_share_their_cells(prepared: Prepared, trained: list) -> None:
    forms = {f"models.dust_{form}": {"dictionaries": form, "arms": {}} for form in ("per_layer", "shared")}
    params = small_params(forms | {"video.models": ["dust", "dust_per_layer", "dust_shared"]})
    train_cells(params, *WORDS)
    trained.clear()
    for model, shared in (("dust_per_layer", "constrained"), ("dust_shared", "unconstrained")):
        item = train_cells(params, "video", "ucsd", model)
        assert {name.split("-")[0] for names in trained for name in names} == {"constrained", "unconstrained"} - {
            shared
        }
        trained.clear()
        for cell in item.cells:
            twin = item_of(params, *WORDS).runs / cell.name / "cell.json"
            same = json.loads(twin.read_text())["fingerprint"] == store.record(item.runs, cell)["fingerprint"]
            assert same == (cell.arm == shared)


def test_a_study_may_train_longer_and_shares_no_cell_with_the_grid_then(prepared: Prepared, trained: list) -> None:
    study = {"layers": 3, "eps": 0.5, "overrides": {}, "times": 2}
    params = small_params({"study.infeasible": study, "profiles.demo.video.eps": [0.5], "video.models": ["dust"]})
    grid, longer = train_cells(params, *WORDS), train_cells(params, "infeasible")
    for arm in ("constrained", "unconstrained"):
        one, other = (
            pd.read_csv(item.runs / f"{arm}-L3-eps0.5-seed0" / "history.csv")["epoch"].max()
            for item in (grid, longer)
        )
        assert (one, other) == (4, 8)
