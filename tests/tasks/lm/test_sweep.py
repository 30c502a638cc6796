"""The language model under other shifts: the energy of Gaussian noise, one set of numbers, a step of its own."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.components import declared, names
from descent.models.causal_lm import CausalLM
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.lm.batches import InstructionTask
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.sweep import InstructionSweep, sweep
from descent.tasks.text.data import Texts, by_length
from descent.tasks.text.embeddings import Scale
from tests.fakes.instructions import write_instructions
from tests.fakes.lm import CPU, built, lm_params

SHIFTS = [name for name in names("shifts") if "lm" in declared("shifts", name)["TASKS"]]
LEVEL = 0.4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Instructions:
    folder: Path = tmp_path_factory.mktemp("instructions")
    return write_instructions(folder / "prepared", folder / "raw")


@pytest.fixture(scope="module")
def model(data: Instructions) -> CausalLM:
    return built(data).eval()


def swept(model: CausalLM, data: Instructions, shift: str, levels: list[float]) -> InstructionSweep:
    params = lm_params({"lm.evaluation": {"noise_draws": 1, "batch": 40}})
    return sweep(model, data, levels, apply_of(params, shift), 13, Sweeping(params.lm.evaluation, CPU))


class AskedTwice(Instructions):
    """Four texts; the last has the first one's prompt and the second one's response."""

    def split(self, name: str) -> Texts:
        texts = super().split(name)
        own = np.split(np.asarray(texts.tokens), texts.offsets[1:-1])
        begin = texts.labels
        made = [*own[:3], np.concatenate([own[0][: begin[0]], own[1][begin[1] :]])]
        offsets = np.cumsum([0, *map(len, made)])
        return Texts(np.concatenate(made), offsets, begin[[0, 1, 2, 0]], texts.pad)


def test_losses_and_hits_of_a_prompt_are_those_of_a_plain_loop_over_its_responses(
    model: CausalLM, data: Instructions
) -> None:
    asked = AskedTwice(**vars(data))
    evaluation = lm_params({"lm.evaluation": {"noise_draws": 2, "batch": 2}}).lm.evaluation
    found = sweep(model, asked, [0.0], apply_of(lm_params(), "gaussian"), 13, Sweeping(evaluation, CPU))
    sums, sizes, texts = np.zeros((2, model.layers + 1, 3)), np.zeros(3), asked.split("test")
    for number, prompt in enumerate((0, 1, 2, 0)):
        ids = torch.from_numpy(texts.tokens[texts.offsets[number] : texts.offsets[number + 1]].astype(np.int64))
        begin = texts.labels[number]
        sizes[prompt] += len(ids) - begin
        with torch.no_grad():
            for layer, state in enumerate(model.states(model.embed(ids[None]))):
                logits = model.readout(state)[0, 0, begin - 1 : -1].double()
                nats = -logits.log_softmax(-1)[range(len(logits)), ids[begin:]]
                sums[:, layer, prompt] += nats.sum().item(), (logits.argmax(-1) == ids[begin:]).sum().item()
    assert found.sizes.tolist() == sizes.tolist() and len(set(sizes)) == 3
    np.testing.assert_allclose(found.loss[0], sums[0] / sizes, rtol=1e-5)
    np.testing.assert_allclose(found.accuracy[0], sums[1] / sizes, rtol=1e-12)


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_shift_moves_the_embeddings_by_its_energy_and_the_losses_follow(
    model: CausalLM, data: Instructions, shift: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Tensor] = []
    states = CausalLM.states

    def watched(self: CausalLM, embedded: Tensor) -> list[Tensor]:
        if not torch.is_grad_enabled():  # not the pass that gives the gradient
            seen.append(embedded)
        return states(self, embedded)

    monkeypatch.setattr(CausalLM, "states", watched)
    found = swept(model, data, shift, [0.0, LEVEL])
    sigma = Scale(data.frequencies, CPU)(model).item()
    texts = data.split("test")
    masks = [InstructionTask.gather(texts, own, (0,), CPU).mask for own in by_length(texts.lengths, 40)]
    pairs = zip(seen[::2], seen[1::2], masks, strict=True)
    moved = torch.cat([(noisy - clean)[:, mask].square().flatten() for clean, noisy, mask in pairs])
    energy = moved[moved > 0].mean() if shift == "gradient_sign" else moved.mean()
    assert energy.item() == pytest.approx((LEVEL * sigma) ** 2, rel=0.1)
    assert np.abs(found.loss[1] - found.loss[0]).max() > 1e-4
    again = swept(model, data, shift, [0.0, LEVEL])
    np.testing.assert_array_equal(again.loss, found.loss)


def test_at_level_zero_all_shifts_give_one_number_and_a_gradient_step_is_worse_than_noise(
    model: CausalLM, data: Instructions
) -> None:
    found = {shift: swept(model, data, shift, [0.0, LEVEL]) for shift in ("gaussian", "laplace", "gradient_sign")}
    last = {shift: one.loss[:, -1] @ one.sizes / one.sizes.sum() for shift, one in found.items()}
    for clean, _ in last.values():
        assert clean == pytest.approx(last["gaussian"][0], rel=1e-6)
    rise = {shift: noisy - clean for shift, (clean, noisy) in last.items()}
    assert rise["gradient_sign"] > 3 * max(abs(rise["gaussian"]), abs(rise["laplace"]))
    assert all(parameter.grad is None for parameter in model.parameters())
