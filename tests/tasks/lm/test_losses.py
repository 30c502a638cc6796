"""Losses of all layers without all their logits: the plain numbers and gradients, in memory that stays."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear
from torch.profiler import ProfilerActivity, profile

from descent.tasks.lm import losses as token_losses
from descent.tasks.lm.losses import cast_head, fuses, layer_hits, token_loss
from descent.training.devices import autocast

TOKENS, WIDTH, WORDS = 23, 6, 17
CPU = torch.device("cpu")


class Speaker(nn.Module):
    """A norm with weights and a head."""

    def __init__(
        self, words: int = WORDS, width: int = WIDTH, trains: bool = True, dtype: torch.dtype = torch.float64
    ):
        super().__init__()
        stream = torch.Generator().manual_seed(3)
        self.gain = nn.Parameter(torch.rand(width, generator=stream, dtype=dtype) + 0.5)
        self.words = nn.Parameter(torch.randn(words, width, generator=stream, dtype=dtype), requires_grad=trains)

    @property
    def head(self) -> Tensor:  # of its class, where Python 3.12 looks for what a protocol has
        return self.words

    def normalised(self, state: Tensor) -> Tensor:
        return self.gain * state / state.square().mean(-1, keepdim=True).sqrt()

    def readout(self, state: Tensor) -> Tensor:
        return linear(self.normalised(state), self.head)


def states(
    layers: int = 1, tokens: int = TOKENS, width: int = WIDTH, dtype: torch.dtype = torch.float64
) -> Tensor:
    stream = torch.Generator().manual_seed(5)
    return torch.randn(layers, tokens, width, generator=stream, dtype=dtype).requires_grad_()


def targets(tokens: int = TOKENS, words: int = WORDS) -> Tensor:
    return torch.randint(words, (tokens,), generator=torch.Generator().manual_seed(7))


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("at_once", [1, 5, TOKENS, 100])
def test_values_and_gradients_are_those_of_the_plain_loss(at_once: int, trains: bool) -> None:
    layers, weights = states(3), torch.tensor([0.3, -2.0, 1.0], dtype=torch.float64)
    found = []
    for loss in (
        lambda model, layer: token_loss(model, layer, targets(), at_once),
        lambda model, layer: cross_entropy(model.readout(layer), targets()),
    ):
        model = Speaker(trains=trains)
        f = torch.stack([loss(model, layer) for layer in layers])
        at = [layers, model.gain, *([model.head] if trains else [])]
        found.append([f, *torch.autograd.grad(weights @ f, at)])
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("trains", [True, False])
def test_gradients_are_those_of_finite_differences(trains: bool) -> None:
    model = Speaker(trains=trains)
    assert torch.autograd.gradcheck(
        lambda layer: token_loss(model, layer, targets(), 5), states()[0].detach().requires_grad_()
    )


def test_without_gradient_it_is_the_same_number() -> None:
    model, layer = Speaker(), states()[0]
    with torch.no_grad():
        assert token_loss(model, layer, targets(), 4).item() == pytest.approx(
            token_loss(model, layer, targets(), 9).item()
        )


def test_losses_and_hits_of_every_token_at_every_layer() -> None:
    model, layers = Speaker(), states(3)
    loss, hits = layer_hits(model, layers, targets(), 5)
    for layer in range(3):
        logits = model.readout(layers[layer])
        expected = cross_entropy(logits, targets(), reduction="none")
        assert loss[layer].tolist() == pytest.approx(expected.tolist(), rel=1e-5)
        assert hits[layer].tolist() == (logits.argmax(-1) == targets()).tolist()


@pytest.mark.parametrize("trains", [True, False])
def test_no_logit_of_a_frozen_head_is_worked_out_twice(trains: bool) -> None:
    model, layer = Speaker(trains=trains), states()[0].detach().requires_grad_()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as measured:
        token_loss(model, layer, targets(), TOKENS).backward()
    products = [event for event in measured.events() if event.name == "aten::mm"]
    assert len(products) == (4 if trains else 2), "forward and at the states; again, and at the head"


def test_a_frozen_head_is_cast_once_for_all_layers_and_chunks() -> None:
    model, layers = Speaker(trains=False, dtype=torch.float32), states(3, dtype=torch.float32)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as measured, autocast(CPU, "bf16"):
        head = cast_head(model)
        f = torch.stack([token_loss(model, layer, targets(), 5, head) for layer in layers])
        layer_hits(model, layers, targets(), 5)
    casts = [event for event in measured.events() if event.name == "aten::_to_copy"]
    of_head = [event for event in casts if event.input_shapes[0] == [WORDS, WIDTH]]
    assert len(of_head) == 2, "one for the losses, one for the hits; without it one a chunk, of which there are 30"
    plain = torch.stack([cross_entropy(model.readout(layer), targets()) for layer in layers])
    torch.testing.assert_close(f, plain, rtol=2e-2, atol=0)
    (own,), (exact,) = (torch.autograd.grad(loss.sum(), layers) for loss in (f, plain))
    assert f.dtype == own.dtype == torch.float32
    assert 0 < (own - exact).norm() < 2e-2 * exact.norm()
    trains = Speaker(dtype=torch.float32)
    with autocast(CPU, "bf16"):
        assert cast_head(trains) is trains.head, "the gradients of many chunks would add up in bfloat16"


def peak(layers: int, folder: Path, at_once: int, trains: bool) -> int:
    """Bytes that one step over so many layers takes at most, beyond what there was before it."""
    words, width, tokens = 3000, 8, 96
    model, x, y = (
        Speaker(words, width, trains, torch.float32),
        states(layers, tokens, width, torch.float32),
        targets(tokens, words),
    )
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as measured:
        torch.stack([token_loss(model, layer, y, at_once) for layer in x]).sum().backward()
    file = folder / f"{layers}-{at_once}.json"
    measured.export_chrome_trace(str(file))
    events = [
        event["args"] for event in json.loads(file.read_text())["traceEvents"] if event.get("name") == "[memory]"
    ]
    start = events[0]["Total Allocated"] - events[0]["Bytes"]
    return max(event["Total Allocated"] for event in events) - start


@pytest.mark.parametrize(("trains", "states_kept"), [(True, 4), (False, 7)])
def test_peak_memory_grows_with_the_tokens_at_once_and_not_with_the_layers(
    trains: bool, states_kept: int, tmp_path: Path
) -> None:
    chunk, state = 16 * 3000 * 4, 96 * 8 * 4
    three, twelve = (peak(layers, tmp_path, 16, trains) for layers in (3, 12))
    assert twelve - three < 9 * states_kept * state < 1.1 * chunk  # the layers' own gradients, and no logits
    assert peak(3, tmp_path, 96, trains) > three + 4 * chunk


def test_the_fused_kernel_is_for_a_gpu_and_a_head_that_does_not_train(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fused(head: Tensor, normalised: Tensor, right: Tensor) -> Tensor:
        calls.append(head.shape)
        return cross_entropy(linear(normalised, head), right)

    monkeypatch.setattr(token_losses, "_liger", lambda: fused)

    class OnGPU(torch.Tensor):
        is_cuda = True

    frozen, layer = Speaker(trains=False), states()[0]
    plain = token_loss(frozen, layer, targets(), 5)
    assert not calls
    there = layer.detach().as_subclass(OnGPU).requires_grad_()
    assert token_loss(frozen, there, targets(), 5).item() == pytest.approx(plain.item())
    assert len(calls) == 1
    token_loss(Speaker(), there, targets(), 5)
    token_loss(frozen, there, targets(), TOKENS)
    assert len(calls) == 1, "nor for few tokens, which it would cut into as many parts"


def test_it_fuses_where_its_parts_are_fewer() -> None:
    llama = {"vocabulary": 128256, "width": 4096, "at_once": 512}  # some 31 parts, whatever the tokens
    assert not fuses(tokens=600, **llama) and not fuses(31 * 512, **llama) and fuses(32 * 512, **llama)
