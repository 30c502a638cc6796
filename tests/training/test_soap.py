"""SOAP: a second implementation, one matrix after another; what it is for; and that no cell meets another."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from descent.errors import UserError
from descent.runner import items
from descent.tasks.common.items import budget_of, setting
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import feed
from descent.training import step
from descent.training.arm import Base
from descent.training.optimizers import soap
from descent.training.schema import ADAM, Optimizer
from tests.fakes.core import fit, same, small_params
from tests.fakes.stacks import stack

BETAS = [0.9, 0.95]
KIND = Optimizer(kind="soap", weight_decay=0.0)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def stepped(start: Tensor, gradients: list[Tensor], lr: float = 0.1) -> Tensor:
    """Where given gradients lead the optimizer."""
    weights = nn.Parameter(start.clone())
    optimizer = step.optimizer_of(KIND, [weights], lr, BETAS)
    for gradient in gradients:
        weights.grad = gradient.clone()
        optimizer.step()
    return weights.detach()


def second(start: np.ndarray, gradients: list[np.ndarray], lr: float = 0.1) -> np.ndarray:
    """Algorithm 3 for one matrix, from its own words: the gradient is looked at in the basis of that step."""
    weights, (rows, columns) = start.copy(), start.shape
    means, squares = np.zeros((2, rows, columns))
    left, right, of_left, of_right = (
        np.zeros((rows, rows)),
        np.zeros((columns,) * 2),
        np.eye(rows),
        np.eye(columns),
    )
    for number, gradient in enumerate(gradients, start=1):
        means = BETAS[0] * means + (1 - BETAS[0]) * gradient
        squares = BETAS[1] * squares + (1 - BETAS[1]) * (of_left.T @ gradient @ of_right) ** 2
        turned = of_left.T @ means @ of_right / (1 - BETAS[0] ** number)
        turned /= np.sqrt(squares / (1 - BETAS[1] ** number)) + 1e-8
        weights -= lr * of_left @ turned @ of_right.T
        left = BETAS[1] * left + (1 - BETAS[1]) * gradient @ gradient.T
        right = BETAS[1] * right + (1 - BETAS[1]) * gradient.T @ gradient
        if number % 10 == 0:
            of_left, of_right = np.linalg.qr(left @ of_left)[0], np.linalg.qr(right @ of_right)[0]
    return weights


def test_every_matrix_of_a_stack_steps_as_a_second_implementation_has_it() -> None:
    start, gradients = normal(2, 3, 4, 5), [normal(2, 3, 4, 5, seed=number) for number in range(1, 36)]
    found = stepped(start, gradients)
    for cell in range(2):
        for layer in range(3):
            own = second(start[cell, layer].numpy(), [one[cell, layer].numpy() for one in gradients])
            np.testing.assert_allclose(found[cell, layer].numpy(), own, rtol=0, atol=1e-10)
    adam = nn.Parameter(start.clone())
    plain = step.optimizer_of(ADAM, [adam], 0.1, BETAS)
    for number, gradient in enumerate(gradients, start=1):
        adam.grad = gradient.clone()
        plain.step()
        if number == soap.EVERY:
            torch.testing.assert_close(stepped(start, gradients[:number]), adam.detach(), rtol=0, atol=1e-7)
    assert (found - adam.detach()).abs().max() > 0.1, "from the first turn on it is not Adam"


@pytest.mark.parametrize("shape", [(3, 5), (3, 2, 5)])
def test_what_is_no_matrix_a_layer_steps_as_with_adam(shape: tuple[int, ...]) -> None:
    """Or the layers of a bias, or the cells of a stack, would meet in one basis."""
    start, gradients = normal(*shape), [normal(*shape, seed=number) for number in range(1, 25)]
    plain = nn.Parameter(start.clone())
    optimizer = step.optimizer_of(ADAM, [plain], 0.1, BETAS)
    for gradient in gradients:
        plain.grad = gradient
        optimizer.step()
    weights, matrix = nn.Parameter(start.clone()), nn.Parameter(normal(1, 1, 6, 6))
    soap_of = step.optimizer_of(KIND, [weights, matrix], 0.1, BETAS)
    for gradient in gradients:
        weights.grad, matrix.grad = gradient, torch.ones_like(matrix)
        soap_of.step()
    torch.testing.assert_close(weights.detach(), plain.detach(), rtol=0, atol=1e-7)


def test_it_is_quick_where_curvature_lies_across_the_axes() -> None:
    """|A W B|^2 with A and B turned and of condition 10: Adam, which sees axes alone, is slow on it."""
    turn = [torch.linalg.qr(normal(6, 6, seed=number))[0] for number in (1, 2)]
    across = torch.logspace(0, -1, 6, dtype=torch.float64)
    left, right = (one @ across.diag() @ one.T for one in turn)

    def reached(kind: Optimizer) -> float:
        weights = nn.Parameter(normal(1, 1, 6, 6, seed=3))
        optimizer = step.optimizer_of(kind, [weights], 0.03, BETAS)
        for number in range(400):
            optimizer.param_groups[0]["lr"] = 0.03 * (1 - number / 400)
            optimizer.zero_grad()
            loss = (left @ weights @ right).square().sum()
            loss.backward()
            optimizer.step()
        return loss.item()

    assert reached(KIND) < reached(ADAM) / 100


def test_a_side_that_is_too_long_keeps_its_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    start, gradients = normal(1, 2, 3, 5), [normal(1, 2, 3, 5, seed=number) for number in range(1, 25)]
    whole = stepped(start, gradients)
    monkeypatch.setattr(soap, "LARGEST", 4)
    one_sided = stepped(start, gradients)
    assert (whole - one_sided).abs().max() > 0.01
    optimizer = step.optimizer_of(KIND, [weights := nn.Parameter(start)], 0.1, BETAS)
    weights.grad = gradients[0]
    optimizer.step()
    assert "left" in optimizer.state[weights] and "right" not in optimizer.state[weights]


def test_a_state_that_is_taken_up_goes_on_to_the_bit() -> None:
    start, gradients = (
        normal(2, 2, 4, 3).float(),
        [normal(2, 2, 4, 3, seed=number).float() for number in range(1, 30)],
    )
    whole = stepped(start, gradients)
    weights = nn.Parameter(start.clone())
    optimizer = step.optimizer_of(KIND, [weights], 0.1, BETAS)
    for number, gradient in enumerate(gradients):
        if number == 13:
            kept, optimizer = optimizer.state_dict(), step.optimizer_of(KIND, [weights], 0.7, BETAS)
            optimizer.load_state_dict(kept)
        weights.grad = gradient.clone()
        optimizer.step()
    assert torch.equal(weights.detach(), whole)


def test_without_gradient_and_momentum_a_cell_rests() -> None:
    """So the loop stops a cell that is lost."""
    weights = nn.Parameter(normal(2, 2, 4, 3))
    optimizer = step.optimizer_of(KIND, [weights], 0.1, BETAS)
    for number in range(1, 30):
        weights.grad = normal(2, 2, 4, 3, seed=number)
        if number > 12:
            weights.grad[0] = 0
            optimizer.state[weights]["exp_avg"][0] = 0
        before = weights.detach().clone()
        optimizer.step()
        moved = (weights.detach() - before).abs().amax((1, 2, 3))
        assert moved[1] > 1e-3
        assert (moved[0] > 1e-3) == (number <= 12) and (moved[0] == 0) == (number > 12)


@pytest.mark.parametrize("model", ["dust", "ut"])
def test_a_budget_chooses_it_and_no_cell_meets_another(prepared: Prepared, tmp_path: Path, model: str) -> None:
    adam, params = (small_params(budget(model, name)) for name in ("adam", "soap"))
    cells = stack("unconstrained", model)
    _, together = fit(params, prepared, cells, tmp_path / "stack.pt")
    assert same(together, fit(params, prepared, cells, tmp_path / "again.pt")[1])
    assert not same(together, fit(adam, prepared, cells, tmp_path / "adam.pt")[1])
    for index, cell in enumerate(cells):
        _, alone = fit(params, prepared, [cell], tmp_path / "single.pt")
        for name, value in alone.weights.items():
            torch.testing.assert_close(value[0], together.weights[name][index], rtol=0, atol=1e-4)


def budget(model: str, optimizer: str, epochs: int = 8) -> dict[str, Any]:
    """What chooses it, in a run whose bases turn."""
    return {f"profiles.demo.video.models.{model}": {"optimizer": optimizer, "lr": 0.01, "epochs": epochs}}


@pytest.mark.parametrize("dies_at", [2, 5])
def test_a_run_that_was_killed_goes_on_to_the_bit(prepared: Prepared, tmp_path: Path, dies_at: int) -> None:
    params = small_params(budget("dust", "soap") | {"training.checkpoint_seconds": 0.0})
    cells, told = stack("unconstrained", "dust"), []
    _, whole = fit(params, prepared, cells, tmp_path / "whole.pt")

    def die(epoch: int, f: Tensor) -> None:
        if epoch == dies_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(params, prepared, cells, tmp_path / "resumed.pt", die)
    _, resumed = fit(params, prepared, cells, tmp_path / "resumed.pt", lambda epoch, f: told.append(epoch))
    assert told == list(range(dies_at, 9)) and same(resumed, whole)


def test_a_gpu_replays_none_of_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a GPU's, the compiler's own graphs of the losses are asked for where steps cannot be replayed."""
    weights, how = [nn.Parameter(normal(1, 1, 2, 2))], small_params({"training": {"compile": "graphs"}}).training
    asked: list[str] = []
    monkeypatch.setattr(Recordable, "compile", lambda task, how: asked.append(how))
    monkeypatch.setattr(step, "Recorded", lambda function: function)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    for kind, recorded in ((ADAM, True), (KIND, False)):
        optimizer = step.optimizer_of(kind, weights, 0.1, BETAS)
        steps = step.Steps(nn.Identity(), Recordable(), Recordable(), optimizer, how, on_a_gpu())
        assert steps.recorded == recorded
    assert asked == ["graphs"]


def on_a_gpu() -> Tensor:
    """Flags that say that they are there."""

    class Flags(Tensor):
        is_cuda = True

    return torch.ones(1, dtype=torch.bool).as_subclass(Flags)


class Recordable(Base):
    """A task and an arm all of whose steps are alike."""

    recordable = True

    def losses(self, model: nn.Module, batch: Any) -> Tensor:
        raise NotImplementedError

    def compile(self, how: str) -> None:
        raise NotImplementedError


def test_a_model_most_of_which_is_no_matrix_a_layer_is_refused() -> None:
    """As ViT, whose embedding of patches has four axes too."""
    with pytest.raises(UserError, match="optimizer: soap is for models of a matrix a layer"):
        step.optimizer_of(KIND, [nn.Parameter(normal(3, 5)), nn.Parameter(normal(1, 1, 2, 2))], 0.1, BETAS)


def test_it_has_no_weight_decay() -> None:
    with pytest.raises(UserError, match="soap has no weight_decay: set 0, or take adamw"):
        weights = [nn.Parameter(normal(1, 1, 2, 2))]
        step.optimizer_of(Optimizer(kind="soap", weight_decay=0.1), weights, 0.1, BETAS)


def test_an_unknown_one_is_told_in_one_sentence() -> None:
    with pytest.raises(UserError, match="optimizer: one of adam, adamw, soap, not 'sopa'"):
        small_params(budget("dust", "sopa")).model_budget("dust")
        budget_of(small_params(budget("dust", "sopa")), "dust")


def test_its_code_is_in_the_name_of_its_own_cells(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(items, "digest", lambda modules: asked.append(modules) or f"code {len(asked)}")
    cell = stack("unconstrained", "dust")[0]
    for name in ("adam", "soap"):
        params = small_params(budget("dust", name))
        made, own = feed(params, prepared, "dust", torch.device("cpu")), {cell: setting(params, cell)}
        item = items.Item("one", Path("runs"), [cell], own, made, partial(items.once, own))
        assert item.fingerprint(cell, own[cell]) != item.fingerprint(cell, own[cell]), "other code, another name"
    assert asked == [(f"descent.training.optimizers.{name}",) for name in ("adam", "adam", "soap", "soap")]
