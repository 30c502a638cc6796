"""DistilBERT and RoBERTa against the library called directly."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from descent.models.parts import encoder
from descent.models.parts.text import Embedded
from descent.primal_dual.constraints import violations
from descent.primal_dual.lagrangian import lagrangian
from descent.tasks.text.batches import Batch
from descent.tasks.text.data import Tokens
from descent.tasks.text.losses import text_losses
from tests.fakes.core import small_problem
from tests.fakes.encoders import ENCODERS, WIDTH, library, weights_of
from tests.fakes.text import (
    BUDGET,
    LAYERS,
    PAD,
    built,
    cells,
    fed,
    inputs,
    logits,
    normal,
    shaken,
    write_tokens,
)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_the_librarys_own_called_directly(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(built(tokens, name)), inputs(tokens)
    body = library(name)
    unknown = body.load_state_dict(weights_of(model), strict=False)
    assert not unknown.unexpected_keys and all("pooler" in key for key in unknown.missing_keys)
    with torch.no_grad():
        states = body(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        found = model.states(Embedded(model.embed(ids), mask))
        assert len(states) == len(found) == LAYERS + 1
        for one, theirs in zip(found, states, strict=True):
            torch.testing.assert_close(one[0], theirs[:, 0], rtol=0, atol=1e-6)
        assert (found[1] - found[2]).abs().max() > 1e-2
        moved = model.states(Embedded(model.embed(ids) + 0.4 * normal(1, *ids.shape, WIDTH), mask))
        assert (moved[2] - found[2]).abs().amax(-1).min() > 1e-2, "the noise is seen"


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", ENCODERS)
def test_padding_counts_as_the_library_has_it_however_it_attends(tokens: Tokens, name: str, padded: bool) -> None:
    model, (ids, mask) = shaken(built(tokens, name)), inputs(tokens)
    mask = mask if padded else torch.ones_like(mask)
    vectors = model.embed(ids)
    with torch.no_grad():
        theirs = model.hidden_states(inputs_embeds=vectors[0], attention_mask=mask.long())
        found = model.states(Embedded(vectors, mask))
        assert all(torch.equal(one[0], own[:, 0]) for one, own in zip(found, theirs, strict=True))
        model._body[0].set_attn_implementation("eager")  # as a folder's config.json may ask
        for one, other in zip(model.states(Embedded(vectors, mask)), found, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_parameter_of_an_encoder_learns_from_the_losses_of_all_layers(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(built(tokens, name)), inputs(tokens)
    f = text_losses(logits(model, ids, mask), torch.tensor([0, 1, 1, 0, 1])).mean(-1)
    problem = small_problem()
    lagrangian(f, violations(f, problem), torch.full((1, LAYERS + 1), 0.7), problem).sum().backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), label
        if not any(key in label for key in ("k_lin/bias", "key/bias")):  # softmax does not see a shift of all keys
            assert parameter.grad.abs().max() > 1e-6, label
    assert model.table.grad[0, PAD].abs().max() == 0


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_depend_on_its_seed_alone(tokens: Tokens, name: str) -> None:
    def drawn(seed: int, world: int) -> dict[str, Tensor]:
        torch.random.manual_seed(world)
        before = torch.random.get_rng_state()
        state = built(tokens, name, (seed,)).state_dict()
        assert torch.equal(before, torch.random.get_rng_state()), "nothing is drawn from the global stream"
        return state

    first, again, other = drawn(0, 1), drawn(0, 2), drawn(1, 1)
    assert first.keys() == other.keys() and all(torch.equal(first[key], again[key]) for key in first)
    different = {key for key in first if not torch.equal(first[key], other[key])}
    assert encoder.TABLE in different and "head.weight" in different
    assert all("bias" in key or "LayerNorm" in key or "layer_norm" in key for key in first.keys() - different)


@pytest.mark.parametrize("name", ENCODERS)
def test_dropout_follows_the_batch_and_rests_in_evaluation(tokens: Tokens, name: str) -> None:
    losses = {}
    for rate in (0.0, 0.5):
        made = fed(tokens, name, {f"{BUDGET}.models.{name}.dropout": rate})
        task, model = made.task(cells(name)), made.build(cells(name))
        batch = task.batch(0, 0)

        def run(key: tuple[int, ...], training: bool, now: tuple = (task, model, batch)) -> list[float]:
            task, model, batch = now
            torch.random.manual_seed(len(losses))  # the world goes on, which is none of a batch's business
            quiet = Batch(batch.ids, batch.mask, batch.labels, key, training)
            task.eps = torch.zeros(1)  # no noise, so that dropout alone follows the key
            return task.losses(model, quiet)[0].tolist()

        for key in ((0, 0, 0), (0, 0, 1)):
            losses[rate, key, True], losses[rate, key, False] = run(key, True), run(key, False)
            assert run(key, True) == losses[rate, key, True] and batch.training
    one, other = (0, 0, 0), (0, 0, 1)
    assert losses[0.0, one, True] == losses[0.0, other, True] == losses[0.0, one, False]
    assert losses[0.5, one, False] == losses[0.5, other, False] == losses[0.0, one, False]
    assert len({tuple(losses[0.5, *which]) for which in ((one, True), (other, True), (one, False))}) == 3
