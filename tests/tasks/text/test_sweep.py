"""The sweep over the levels of a shift: stacks score as single cells, draws and seeds are the noise."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.models.parts.text import Embedded
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.text.batches import ClassificationTask, layer_logits
from descent.tasks.text.data import Tokens
from descent.tasks.text.embeddings import Scale
from descent.tasks.text.losses import text_losses
from descent.tasks.text.sweep import TextSweep, sweep
from descent.tasks.text.words import Words
from tests.fakes.text import CPU, DATASET, built, fed, shaken, text_params, write_tokens


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


def swept(model: nn.Module, tokens: Tokens, params: Params, levels: list[float], eps: list[float]) -> TextSweep:
    return sweep(model, tokens, levels, apply_of(params, "gaussian"), eps, Sweeping(params.text.evaluation, CPU))


def test_cells_of_a_stack_score_what_they_score_alone(tokens: Tokens) -> None:
    params, made = text_params(), fed(tokens, "ut_text")
    asked = [Cell("text", DATASET, "ut_text", "constrained", 2, eps, seed) for seed, eps in enumerate((0.4, 0.0))]
    levels, apply = levels_of(params, "text", "gaussian", [0.4, 0.0]), apply_of(params, "gaussian")
    stack = shaken(made.build(asked))
    told: list[int] = []
    many = sweep(stack, tokens, levels, apply, [0.4, 0.0], Sweeping(params.text.evaluation, CPU, told.append))
    assert levels == [0.0, 0.4, 1.0, 2.0] and sum(told) == 2 * 17
    for index, cell in enumerate(asked):
        single = made.build([cell]).eval()
        single.load_state_dict({name: value[index : index + 1] for name, value in stack.state_dict().items()})
        one = swept(single, tokens, params, levels, [cell.eps])
        np.testing.assert_allclose(one.loss[:, 0], many.loss[:, index], rtol=1e-5)
        np.testing.assert_allclose(one.ratios(0), many.ratios(index), rtol=1e-4)
    assert np.abs(many.loss[:, 0] - many.loss[:, 1]).min() > 1e-6


def test_more_draws_and_another_seed_are_other_noise(tokens: Tokens) -> None:
    model = shaken(built(tokens, "ut_text"))

    def loss(**changes: int) -> list[float]:
        params = text_params({"text.evaluation": {"batch": 5} | changes})
        return swept(model, tokens, params, [0.0, 1.0], [0.0]).loss[:, 0, 2].tolist()

    found = [loss(seed=5, noise_draws=1), loss(seed=5, noise_draws=2), loss(seed=6, noise_draws=1)]
    assert len({noisy for _, noisy in found}) == 3 and loss(seed=5, noise_draws=1) == found[0]
    assert max(clean for clean, _ in found) == pytest.approx(min(clean for clean, _ in found), rel=1e-12)


def test_hits_and_losses_of_single_texts_stand_where_the_texts_do(tokens: Tokens) -> None:
    """A readout that always says class 1 with a logit of 1: right, and cheaper, on the texts of that class."""
    params, model = text_params({"text.evaluation": {"batch": 5, "noise_draws": 2}}), built(tokens, "ut_text")
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.copy_(torch.tensor([[0.0, 1.0]]))
    texts, found = tokens.split("test"), swept(model, tokens, params, [0.0, 0.4], [0.4])
    assert not np.array_equal(texts.labels, texts.labels[np.argsort(texts.lengths, kind="stable")])
    assert (found.hits == (texts.labels == 1)).all()
    nats = np.log1p(np.e) - (texts.labels == 1)
    np.testing.assert_allclose(found.own, np.broadcast_to(nats, found.own.shape), rtol=1e-6)


def energies(tokens: Tokens, model: nn.Module, shift: str, level: float) -> list[float]:
    """Mean squared change of the entries of real tokens, in units of sigma^2, a number a batch."""
    params, found, states = text_params({"text.evaluation": {"noise_draws": 1}}), [], model.states

    def watched(seen: Embedded) -> list:
        found.append(seen)
        return states(seen)

    model.states = watched
    sigma = Scale(tokens.frequencies, CPU)(model).item()
    sweep(model, tokens, [0.0, level], apply_of(params, shift), [0.0], Sweeping(params.text.evaluation, CPU))
    model.states = states
    first = int(hasattr(load("shifts", shift), "GRADIENT"))  # the pass that gives the gradient
    pairs = zip(found[first :: 2 + first], found[first + 1 :: 2 + first], strict=True)
    moved = ((noisy.vectors - clean.vectors)[:, clean.mask] / sigma for clean, noisy in pairs)
    return [change.square().mean().item() for change in moved]


@pytest.mark.parametrize("shift", ["gaussian", "gradient_sign"])
def test_a_gradient_sign_step_has_the_energy_of_gaussian_noise(tokens: Tokens, shift: str) -> None:
    model = shaken(built(tokens, "ut_text"))
    exact = 1e-4 if shift == "gradient_sign" else 0.5
    assert energies(tokens, model, shift, 0.5) == pytest.approx([0.25] * 4, rel=exact)


def test_a_gradient_sign_step_is_each_cell_s_own_and_worse_than_noise_of_its_energy(tokens: Tokens) -> None:
    params, made = text_params({"text.evaluation": {"noise_draws": 1}}), fed(tokens, "ut_text")
    asked = [Cell("text", DATASET, "ut_text", "constrained", 2, 0.4, seed) for seed in (0, 1)]
    stack, levels = shaken(made.build(asked)), [0.0, 0.2]
    found = {}
    for shift in ("gaussian", "gradient_sign"):
        apply = apply_of(params, shift)
        found[shift] = sweep(stack, tokens, levels, apply, [0.4, 0.4], Sweeping(params.text.evaluation, CPU)).loss[
            ..., -1
        ]
    rise = found["gradient_sign"][1] - found["gradient_sign"][0]
    assert (rise > 3 * np.abs(found["gaussian"][1] - found["gaussian"][0])).all() and (rise > 0).all()
    np.testing.assert_allclose(found["gradient_sign"][0], found["gaussian"][0], rtol=1e-6)
    for index, cell in enumerate(asked):
        single = made.build([cell]).eval()
        single.load_state_dict({name: value[index : index + 1] for name, value in stack.state_dict().items()})
        own = sweep(
            single, tokens, levels, apply_of(params, "gradient_sign"), [0.4], Sweeping(params.text.evaluation, CPU)
        )
        np.testing.assert_allclose(own.loss[:, 0, -1], found["gradient_sign"][:, index], rtol=1e-5)
    assert all(parameter.grad is None for parameter in stack.parameters())


def test_shifted_words_are_the_texts_that_the_models_read_and_level_zero_is_the_clean_ones(tokens: Tokens) -> None:
    params, model = text_params(), shaken(built(tokens, "ut_text"))

    def swept_by(shift: str, levels: list[float]) -> TextSweep:
        return sweep(model, tokens, levels, apply_of(params, shift), [0.4], Sweeping(params.text.evaluation, CPU))

    clean, words = swept_by("gaussian", [0.0]), swept_by("word_deletion", [0.0, 0.4])
    np.testing.assert_allclose(words.loss[0], clean.loss[0], rtol=1e-6)
    assert np.abs(words.loss[1] - clean.loss[0]).max() > 1e-4
    deletion = apply_of(params, "word_deletion")
    by_hand = Words(tokens.folder, tokens.max_tokens, deletion, params.text.evaluation.seed)
    texts, losses = tokens.split("test"), []
    for draw in range(params.text.evaluation.noise_draws):
        for number in range(len(texts)):
            own = by_hand.shifted(texts, np.array([number]), 0.4, draw)
            batch = ClassificationTask.gather(own, np.array([0]), (0,), CPU)
            with torch.no_grad():
                logits = layer_logits(model, Embedded(model.embed(batch.ids), batch.mask))
                losses.append(text_losses(logits, batch.labels)[0, :, 0].numpy())
    np.testing.assert_allclose(words.loss[1, 0], np.mean(losses, axis=0), rtol=1e-5)


def test_words_are_shifted_once_for_all_cells_of_a_process(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, shifted = Words._shifted, []
    monkeypatch.setattr(
        Words, "_shifted", lambda self, *told: shifted.append(told[2:]) or original(self, *told), raising=True
    )
    params = text_params({"text.evaluation": {"noise_draws": 1, "seed": 77}})  # a seed of this test's own
    ask = partial(sweep, gammas=[0.1, 0.4], apply=apply_of(params, "word_deletion"), eps=[0.4])
    how = Sweeping(params.text.evaluation, CPU)
    found = [ask(shaken(built(tokens, "ut_text")), tokens, how=how) for _ in range(2)]
    batches = -(-len(tokens.split("test")) // params.text.evaluation.batch)
    assert sorted(shifted) == [(0.1, 0)] * batches + [(0.4, 0)] * batches
    np.testing.assert_array_equal(found[0].loss, found[1].loss)
