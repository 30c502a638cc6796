"""No step asks the device for a number: on a GPU each would have the host wait for all that was sent before.

On the device `meta` there are no numbers, and who asks for one fails.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.models.causal_lm import CausalLM, LoRA, adapted
from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.models.parts.text import Embedded
from descent.tasks.common.items import setting
from descent.tasks.lm.losses import token_loss
from descent.tasks.text.losses import text_losses
from descent.tasks.video.losses import denoising_losses
from descent.training import step as steps
from descent.training.arm import Base
from tests.fakes import lm, text, vit
from tests.fakes.core import small_params, unfuse
from tests.fakes.encoders import ENCODERS

LAYERS, CELLS, META = 3, 2, torch.device("meta")
CPU = torch.device("cpu")


def test_who_asks_for_a_number_is_found() -> None:
    numbers = torch.arange(3.0, device=META)
    for asks in (lambda: numbers.sum().item(), lambda: bool(numbers.any()), lambda: numbers[numbers > 1]):
        with pytest.raises(RuntimeError):
            asks()


OBJECTIVES = {
    f"{constraint} {duals} {resilience}": {
        "constraint": constraint,
        "dual_optimizer": duals,
        "resilience": resilience,
        "dual_mean": mean,
        "dual_forward": forward,
        "warmup_epochs": 0,
    }
    for constraint, duals, resilience, mean, forward in (
        ("difference", "adam", "slacks", 0.0, "same"),
        ("difference", "sgd", "decay", 0.0, "fresh"),
        ("ratio", "nupi", "none", 0.9, "same"),
        ("log", "sgd", "none", 0.0, "same"),
    )
}
ARMS = {name: ("constrained", values) for name, values in OBJECTIVES.items()}
ARMS |= {
    name: (name, {}) for name in ("unconstrained", "penalty", "deep_supervision", "replay", "replay_positive")
}


def duals_of(arm: str, params: Params, cells: int, layers: int, device: torch.device = META) -> Base:
    """The arm of a stack; on the device of these tests without numbers."""
    asked = setting(params, Cell("video", "ucsd", "dust", arm, layers, 0.13, seed=0)).values
    return load("arms", arm).Arm([asked] * cells, layers, device)


@pytest.mark.parametrize("name", ARMS)
def test_a_step_leaves_the_host_free(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "autocast", lambda device, precision: nullcontext())  # which has no meta
    unfuse(monkeypatch)
    arm, values = ARMS[name]
    params = small_params({"objectives.constrained": values} if values else {})
    duals = duals_of(arm, params, CELLS, LAYERS)
    net = DUST(CELLS, LAYERS, dct(16, 16), True, torch.relu, 1.5).to(META)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    alive, clean = torch.ones(CELLS, dtype=torch.bool, device=META), torch.rand(1, 4, 5, 16, device=META)
    noisy = clean.repeat(CELLS, 1, 1, 1)

    def losses(own: nn.Module, inputs: Tensor) -> Tensor:
        return denoising_losses(own, inputs, clean)

    for epoch in range(2):
        f, norm = steps.primal_dual_step(net, losses, noisy, duals, optimizer, params.training, alive, epoch)
    assert f.shape == (CELLS, LAYERS + 1) and norm.shape == (CELLS,)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_step_of_an_encoder_leaves_the_host_free(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "autocast", lambda device, precision: nullcontext())
    unfuse(monkeypatch)
    params, tokens = small_params(), text.write_tokens(tmp_path / "imdb-bert")
    net, duals = text.built(tokens, name).to(META), duals_of("constrained", params, 1, text.LAYERS)
    ids, mask = (each.to(META) for each in text.inputs(tokens))
    labels, alive = torch.zeros(len(ids), dtype=torch.int64, device=META), torch.ones(1, device=META).bool()

    def losses(own: nn.Module, inputs: Tensor) -> Tensor:
        states = own.states(Embedded(own.embed(inputs), mask))
        return text_losses(torch.stack([own.readout(state) for state in states], dim=1), labels).mean(-1)

    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    f, norm = steps.primal_dual_step(net, losses, ids, duals, optimizer, params.training, alive, 0)
    assert f.shape == (1, text.LAYERS + 1) and norm.shape == (1,)


def test_a_step_of_a_vit_leaves_the_host_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "autocast", lambda device, precision: nullcontext())
    unfuse(monkeypatch)
    params, net = small_params(), vit.build().to(META)
    duals = duals_of("constrained", params, 1, vit.LAYERS)
    clean, alive = torch.rand(1, 4, 8, 8, device=META), torch.ones(1, dtype=torch.bool, device=META)

    def losses(own: nn.Module, inputs: Tensor) -> Tensor:
        return denoising_losses(own, inputs, clean)

    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    f, _ = steps.primal_dual_step(net, losses, clean.clone(), duals, optimizer, params.training, alive, 0)
    assert f.shape == (1, vit.LAYERS + 1)


def test_a_step_of_a_language_model_leaves_the_host_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "autocast", lambda device, precision: nullcontext())
    unfuse(monkeypatch)
    params, net = small_params(), CausalLM(adapted(lm.llama(), LoRA(**lm.LORA))).to(META)
    duals = duals_of("constrained", params, 1, lm.LAYERS)
    ids, alive = torch.zeros(2, 7, dtype=torch.int64, device=META), torch.ones(1, device=META).bool()

    def losses(own: nn.Module, inputs: Tensor) -> Tensor:
        states = own.states(own.embed(inputs))
        return torch.stack([token_loss(own, state[0].flatten(0, 1), ids.flatten(), 4) for state in states])[None]

    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    f, _ = steps.primal_dual_step(net, losses, ids, duals, optimizer, params.training, alive, 0)
    assert f.shape == (1, lm.LAYERS + 1)


class Launched(TorchDispatchMode):
    """Counts what a GPU's host would launch: operations that are no views."""

    count = 0

    def __torch_dispatch__(
        self, function: OpOverload, types: object, args: tuple = (), kwargs: dict | None = None
    ):
        self.count += not function.is_view and "profiler" not in str(function)
        return function(*args, **kwargs or {})


def test_the_constraints_of_a_step_are_some_fifty_operations_whatever_the_depth() -> None:
    params = small_params({"objectives.constrained": OBJECTIVES["difference adam slacks"]})
    clean = torch.rand(1, 4, 5, 16)
    extra = []
    for layers in (3, 7):
        counts = {}
        for arm in ("constrained", "unconstrained"):
            net = DUST(CELLS, layers, dct(16, 16), True, torch.relu, 1.5)
            optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
            rest = duals_of(arm, params, CELLS, layers, CPU), optimizer, params.training
            alive = torch.ones(CELLS, dtype=torch.bool)
            with Launched() as launched:
                steps.primal_dual_step(
                    net,
                    lambda own, noisy: denoising_losses(own, noisy, clean),
                    clean.repeat(CELLS, 1, 1, 1),
                    *rest,
                    alive,
                    9,
                )
            counts[arm] = launched.count
        extra.append(counts["constrained"] - counts["unconstrained"])
    assert extra[0] == extra[1] and 20 < extra[0] < 55, extra
