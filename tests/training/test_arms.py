"""Arms: what each asks the weights to minimise, and what of it a stack may mix."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

from descent.arms import deep_supervision
from descent.cells import Cell
from descent.components import names
from descent.errors import UserError
from descent.tasks.common.items import setting
from descent.tasks.video.data import Prepared
from descent.training.arm import Setting, columns
from tests.fakes.core import fit, small_params

CPU = torch.device("cpu")
F = [[4.0, 5.0, 2.0, 1.0], [1.0, 0.5, 0.25, 3.0]]  # f_0 ... f_3 of two cells


@pytest.mark.parametrize(("weights", "shares"), [("uniform", [1 / 4] * 4), ("linear", [0.0, 1 / 6, 2 / 6, 3 / 6])])
def test_deep_supervision_minimises_a_weighted_mean_of_all_layers(weights: str, shares: list[float]) -> None:
    arm = deep_supervision.Arm([deep_supervision.Settings(weights=weights)] * 2, 3, CPU)
    f = torch.tensor(F, requires_grad=True)
    objective = arm.objective(f, epoch=7)
    by_hand = [sum(a * x for a, x in zip(shares, row, strict=True)) for row in F]
    assert objective.tolist() == pytest.approx(by_hand, rel=1e-6)
    objective.sum().backward()
    torch.testing.assert_close(f.grad, torch.tensor([shares, shares]))
    log = arm.end_epoch(f.detach(), f.detach())
    assert log.keys() == {"weight_mean"}
    torch.testing.assert_close(log["weight_mean"], torch.tensor([shares, shares]))
    assert arm.worst(f).tolist() == [0.0, 0.0] and arm.state_dict() == {}


def ended(prepared: Prepared, folder: Path, arm: str, **changes: object) -> Tensor:
    """Validation losses of every layer at the end, of a cell without noise and one with."""
    values = {"profiles.demo.video.epochs": 16, **changes}
    cells = [Cell("video", "ucsd", "dust", arm, 3, eps, 0) for eps in (0.0, 0.5)]
    _, run = fit(small_params(values), prepared, cells, folder / "c.pt")
    start, end = run.history[0]["loss_train"], run.history[-1]["loss_train"]
    assert (end[:, -1] < start[:, -1]).all(), "it learns"
    return run.history[-1]["loss_validation"]


def test_deep_supervision_trains_all_layers_where_erm_trains_the_last(prepared: Prepared, tmp_path: Path) -> None:
    alike = {"models.dust": {"dictionaries": "per_layer", "arms": {}}}  # the arms differ in nothing else
    erm = ended(prepared, tmp_path, "unconstrained", **alike)
    linear = ended(prepared, tmp_path, "deep_supervision", **alike)
    uniform = {"objectives.deep_supervision.weights": "uniform"}
    flat = ended(prepared, tmp_path, "deep_supervision", **alike | uniform)
    assert (erm[:, 1:-1] > 1.2 * linear[:, 1:-1]).all(), "the layers between are better"
    # Linear weights ask nothing of layer 0, which may be better than the next.
    assert (linear[:, 2:] < 1.05 * linear[:, 1:-1]).all(), "and hardly ever worse than those before"
    assert (erm[:, 2] > 4 * erm[:, 1]).all(), "which ERM does not care for"
    assert (erm[:, -1] < linear[:, -1]).all() and erm[0, 0] > 5 * linear[0, 0]
    assert flat[0, 0] < linear[0, 0], "of uniform weights the first layer has its share too"


@pytest.mark.parametrize("arm", names("arms"))
def test_how_a_cell_trained_is_read_back_from_its_record(arm: str) -> None:
    own = setting(small_params(), Cell("video", "ucsd", "dust", arm, 3, 0.5, 0))
    assert Setting.recorded(json.loads(json.dumps(own.definition()))) == own


@pytest.mark.parametrize("arm", ["constrained", "penalty"])
def test_a_margin_that_gives_way_by_the_epoch_is_refused_where_there_is_one(arm: str) -> None:
    cell = Cell("video", "ucsd", "dust", arm, 3, 0.5, 0)
    tighter = {"margin": 0.02, "margin_start": 0.3, "warmup_epochs": 0}
    once = small_params({"profiles.demo.video.epochs": 1})
    with pytest.raises(UserError, match="margin_start gives way by the epoch, and there is one"):
        setting(once, cell, tighter)
    assert setting(once, cell, tighter | {"margin_start": 0.0}).values.margin == 0.02
    assert setting(small_params({"profiles.demo.video.epochs": 2}), cell, tighter).values.margin_start == 0.3


def test_settings_that_differ_in_a_column_alone_may_share_a_stack() -> None:
    def asked(**overrides: object) -> Setting:
        cell = Cell("video", "ucsd", "dust", "constrained", 3, 0.5, 0)
        return setting(small_params(), cell, overrides)

    base, mixed = asked(), asked(alpha=0.3, R0=2.0, rho=3.0, dual_lr=0.5)
    assert base.alike() == mixed.alike() and base != mixed
    for one, other in pairwise([base, asked(resilience="decay"), asked(cap_layer=1), asked(lr=0.3)]):
        assert one.alike() != other.alike()
    whole = columns([base.values, mixed.values], ("alpha", "R0"), CPU)
    torch.testing.assert_close(whole.alpha, torch.tensor([[0.2], [0.3]]))
    torch.testing.assert_close(whole.R0, torch.tensor([[0.5], [2.0]]))
    assert whole.rho == base.values.rho == 20.0
