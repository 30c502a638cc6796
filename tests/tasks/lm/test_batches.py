"""Instruction tuning: which tokens count, the same for both arms, and estimates that are right on average."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from descent.arms import deep_supervision
from descent.config import Params
from descent.models.causal_lm import CausalLM
from descent.runner.stored import Stored
from descent.tasks.lm.batches import Batch, InstructionTask
from descent.tasks.lm.data import Instructions
from descent.training.noise import Stream, embedding_scale
from descent.training.schema import Optimizer
from tests.fakes.core import values
from tests.fakes.lm import (
    BUDGET,
    CPU,
    LAYERS,
    LORA,
    built,
    cell,
    enter_lm_project,
    evaluate_lm,
    fed,
    lm_item,
    lm_params,
    train_lm,
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instructions:
    return enter_lm_project(tmp_path, monkeypatch)


def task(data: Instructions, arm: str = "constrained", **changes: object) -> InstructionTask:
    return fed(data, {f"lm.{key}": value for key, value in changes.items()}).task(cell(arm))


def unit_noise(net: CausalLM, batch: Batch) -> Tensor:
    return Stream(*batch.key).normal(1, *batch.ids.shape, net.width)


def test_the_response_and_its_end_are_predicted_and_nothing_else(data: Instructions) -> None:
    texts = data.split("train")
    batch = InstructionTask.gather(texts, np.arange(6), (1, 2, 3), CPU)
    said = iter(batch.targets.tolist())
    for number in range(6):
        whole = texts.tokens[texts.offsets[number] : texts.offsets[number + 1]].tolist()
        response = whole[texts.labels[number] :]
        assert response[-1] == data.end and whole[0] == data.begin
        assert [next(said) for _ in response] == response
        assert "Response:" in data.speaker().decode(whole[: texts.labels[number]])
    assert next(said, None) is None


@pytest.mark.parametrize("arm", ["unconstrained", "deep_supervision"])
def test_all_arms_get_the_same_batches_and_noise_and_epochs_differ(data: Instructions, arm: str) -> None:
    one, two, seen, net = task(data), task(data, arm), [], built(data)
    net.states = lambda noisy: seen.append(noisy.detach()) or [noisy] * (LAYERS + 1)
    for place in [(0, 0), (1, 3), (0, 2)]:
        a, b = one.batch(*place), two.batch(*place)
        assert a.key == b.key == (0, *place) and a.training and torch.equal(a.ids, b.ids)
        one.losses(net, a), two.losses(net, b)
        assert torch.equal(*seen[-2:])
    assert not torch.equal(unit_noise(net, one.batch(0, 0)), unit_noise(net, one.batch(1, 0)))
    assert sum(size for _, size in one.validation()) == sum(
        int((texts.lengths - texts.labels).sum()) for texts in [data.split("validation")]
    )


def test_noise_is_as_large_as_asked_on_every_token(data: Instructions) -> None:
    one, net = task(data), built(data)
    batch = one.batch(0, 0)
    unit = unit_noise(net, batch)
    table, counts = net.table[0].detach(), torch.from_numpy(data.frequencies)
    entries = table.repeat_interleave(counts, dim=0)
    sigma = embedding_scale(net.table, counts.float() / counts.sum())
    assert sigma.item() == pytest.approx(entries.std(correction=0).item(), rel=1e-4)
    seen = []
    net.states = lambda noisy: seen.append(noisy.detach()) or [noisy] * (LAYERS + 1)
    one.losses(net, batch)
    torch.testing.assert_close(seen[0], net.embed(batch.ids) + 0.25 * sigma * unit)
    assert unit.std().item() == pytest.approx(1, rel=0.1)


def test_what_stands_behind_a_text_and_its_noise_change_no_loss(data: Instructions) -> None:
    one, net = task(data), built(data)
    batch = one.batch(0, 0)
    assert not batch.mask.all()
    other = batch._replace(ids=torch.where(batch.mask, batch.ids, 7))
    assert not torch.equal(batch.ids, other.ids)
    torch.testing.assert_close(one.losses(net, other), one.losses(net, batch))


def plain(net: CausalLM, one: InstructionTask, batch: Batch) -> Tensor:
    """f_0 ... f_L by the definition."""
    sigma, unit = one.scale(net), unit_noise(net, batch)
    states = net.states(net.embed(batch.ids) + one.eps * sigma * unit)
    return torch.stack([cross_entropy(net.readout(s)[0][batch.predicts], batch.targets) for s in states])


def test_losses_and_gradients_are_those_of_the_definition(data: Instructions) -> None:
    one, net = task(data), built(data)
    batch, weights = one.batch(0, 1), torch.tensor([0.5, 1.0, -2.0, 3.0])
    found = []
    for f in (one.losses(net, batch)[0], plain(net, one, batch)):
        found.append([f, *torch.autograd.grad(weights @ f, list(net.parameters()))])
    for ours, right in zip(*found, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-4, atol=1e-5)


def test_the_unconstrained_arm_measures_all_layers_and_moves_by_the_last(data: Instructions) -> None:
    net, ours, erm = built(data), task(data), task(data, "unconstrained")
    batch = ours.batch(0, 0)
    one, two = ours.losses(net, batch), erm.losses(net, batch)
    torch.testing.assert_close(one, two)
    gradients = [torch.autograd.grad(f[0, -1], list(net.parameters()), retain_graph=True) for f in (one, two)]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b)
    summed = torch.autograd.grad(two.sum(), list(net.parameters()))
    for a, b in zip(gradients[1], summed, strict=True):
        torch.testing.assert_close(a, b)


def test_deep_supervision_moves_the_weights_by_the_losses_of_all_layers(data: Instructions) -> None:
    one, net = task(data, "deep_supervision"), built(data)
    batch, weights = one.batch(0, 1), list(net.parameters())
    arm = deep_supervision.Arm([deep_supervision.Settings(weights="linear")], LAYERS, CPU)
    found = [torch.autograd.grad(arm.objective(one.losses(net, batch), 0).sum(), weights)]
    f = plain(net, one, batch)
    found.append(torch.autograd.grad((f[1] + 2 * f[2] + 3 * f[3]) / 6, weights, retain_graph=True))
    for ours, right in zip(*found, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-4, atol=1e-5)
    last = torch.autograd.grad(f[-1], weights)
    assert max((ours - own).abs().max() for ours, own in zip(found[0], last, strict=True)) > 1e-3


@pytest.mark.parametrize(
    "asked", [{"readout_tokens": 9}, {"readout_layers": 1}, {"readout_tokens": 9, "readout_layers": 2}]
)
def test_drawn_tokens_and_layers_give_losses_and_gradients_that_are_right_on_average(
    asked: dict, data: Instructions
) -> None:
    one, net, count = task(data, **asked, logits_at_once=200), built(data), 150
    batch, weights = one.batch(0, 0), torch.tensor([0.5, 1.0, -2.0, 3.0])
    assert batch.predicts.sum() > 2 * 9
    head = net.get_parameter("lm_head")
    with torch.no_grad():  # noise follows the same key as the draws: here these alone are to differ
        states = net.states(net.embed(batch.ids) + one.eps * one.scale(net) * unit_noise(net, batch))
    net.states = lambda noisy: states
    drawn, moved = [], []
    for number in range(count):
        f = one.losses(net, batch._replace(key=(0, 0, number)))[0]
        drawn.append(f.detach())
        moved.append(torch.autograd.grad(weights @ f, head)[0].flatten()[:400])
    f = plain(net, one, batch)
    right = torch.autograd.grad(weights @ f, head)[0].flatten()[:400]
    for sample, mean in ((torch.stack(drawn), f.detach()), (torch.stack(moved), right)):
        error = (sample.mean(0) - mean).abs()
        assert (error <= 5 * sample.std(0) / count**0.5 + 1e-5).all()
    assert torch.stack(drawn)[:, -1].std() < 1e-5  # the objective itself is never a draw
    assert torch.stack(moved).std(0).max() > 1e-4


def test_validation_and_evaluation_never_draw(data: Instructions) -> None:
    one, net = task(data, readout_tokens=3, readout_layers=1), built(data)
    for batch, _ in one.validation():
        torch.testing.assert_close(one.losses(net, batch)[0], plain(net, one, batch), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_the_primal_optimizer_is_the_tasks_choice(data: Instructions) -> None:
    def decayed(by: float) -> Params:
        return lm_params({"lm.optimizer": {"kind": "adamw", "weight_decay": by}, f"{BUDGET}.epochs": 1})

    assert lm_item(decayed(0.5)).feed.primal == Optimizer(kind="adamw", weight_decay=0.5)
    weights = []
    for decay in (0.0, 0.5):
        item = train_lm(decayed(decay))
        (erm,) = (own for own in item.cells if own.arm == "unconstrained")
        weights.append(Stored(item.runs / erm.name).weights["lm_head"])
    assert weights[1].square().sum() < weights[0].square().sum()
    assert values()["lm"]["optimizer"]["kind"] == "adamw"


@pytest.mark.slow
def test_with_adapters_the_store_holds_nothing_else_and_scores_come_from_it(data: Instructions) -> None:
    arms = ["constrained", "unconstrained", "deep_supervision"]
    params = lm_params({f"{BUDGET}.lora": LORA, f"{BUDGET}.epochs": 1, "arms": arms})
    item = train_lm(params)
    kept = Stored(item.runs / item.cells[0].name).weights
    assert kept and all("lora" in name for name in kept)
    rows = evaluate_lm(params)
    for arm in arms:
        own = rows[rows["arm"] == arm]
        assert {"loss", "accuracy", "violation", "feasible", "validation_loss"} <= set(own["metric"])
        assert set(own["shift"]) == {"gaussian"} and set(own["experiment"]) == {"lm"}
        assert set(own.query("metric == 'loss'")["gamma"]) == {0.0, 0.25, 1.0}


def test_a_fingerprint_follows_what_shapes_the_weights(data: Instructions) -> None:
    def name(**changes: object) -> str:
        item = lm_item(lm_params({key.replace("__", "."): value for key, value in changes.items()}))
        return item.fingerprint(item.cells[0], item.settings[item.cells[0]])

    budget, constrained = BUDGET.replace(".", "__") + "__", "objectives__constrained__models__causal_lm"
    shaping = [{}, {budget + "lora": LORA}, {budget + "batch": 3}, {budget + "lr": 0.5}, {"lm__readout_tokens": 5}]
    shaping += [{"lm__optimizer": {"kind": "adam", "weight_decay": 0.0}}, {constrained: {"R0": 9.0}}]
    assert len({name(**changes) for changes in shaping}) == len(shaping)
    assert name(lm__evaluation={"batch": 2}) == name() == name(lm__logits_at_once=99)
