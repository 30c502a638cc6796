"""Text models against loops over single texts without padding."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.models.parts.text import Embedded, Readout
from descent.models.parts.unrolled import UT
from descent.models.ut_text import TextUT
from descent.tasks.text.data import Tokens
from tests.fakes.text import (
    LAYERS,
    PAD,
    VOCABULARY,
    built,
    by_hand,
    inputs,
    logits,
    normal,
    shaken,
    write_tokens,
)

ALL = ["ut_text", "distilbert", "roberta"]


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


@pytest.mark.parametrize("name", ALL)
def test_what_the_padding_holds_and_how_long_it_is_changes_nothing(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(built(tokens, name)), inputs(tokens)
    noise = normal(1, len(ids), ids.shape[1] + 7, model.table.shape[-1])
    longer = torch.nn.functional.pad(mask, (0, 7))
    with torch.no_grad():
        short = logits(model, ids, mask, noise[:, :, :-7])
        blank = torch.nn.functional.pad(ids, (0, 7), value=PAD)
        other = torch.where(longer, blank, torch.arange(len(blank[0])) % (VOCABULARY - 5) + 5)
        for padded in (blank, other):
            torch.testing.assert_close(logits(model, padded, longer, noise), short, rtol=0, atol=1e-6)
        seen = logits(model, other, torch.ones_like(longer), noise)
    assert (seen - short).abs().amax((0, 1, 3)).min() > 1e-3, "the mask is what hides it"


def test_ut_equals_its_equations_text_by_text_without_padding(tokens: Tokens) -> None:
    model = shaken(built(tokens, "ut_text", (0, 1))).double()
    ids, mask = inputs(tokens)
    noise = 0.3 * normal(1, *ids.shape, 6).double()
    found = logits(model, ids, mask, noise).detach().numpy()
    assert found.shape == (2, LAYERS + 1, len(ids), 2)
    for cell in range(2):
        for text in range(len(ids)):
            real = mask[text]
            vectors = model.table[cell][ids[text, real]] + noise[0, text, real]
            expected = by_hand(model, cell, vectors.detach().numpy())
            assert np.abs(np.diff(expected, axis=0)).max(1).min() > 1e-3, "layers differ"
            np.testing.assert_allclose(found[cell, :, text], expected, atol=1e-6)


class Fixed(UT):
    """States that do not depend on the input."""

    def states(self, noisy: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        return [noisy, noisy + 1, 2 * noisy]


def test_texts_are_averaged_over_their_real_tokens() -> None:
    model = TextUT(Fixed(3, 2, 6, "xavier"), torch.zeros(3, 9, 6), True, Readout(6, 2, [0, 1, 2]))
    vectors, mask = normal(3, 4, 7, 6), torch.arange(7) < torch.tensor([7, 1, 4, 6])[:, None]
    for state, whole in zip(
        model.states(Embedded(vectors, mask)), (vectors, vectors + 1, 2 * vectors), strict=True
    ):
        for cell in range(3):
            for text in range(4):
                expected = sum(whole[cell, text, place] for place in range(7) if mask[text, place])
                torch.testing.assert_close(state[cell, text], expected / mask[text].sum(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_one_readout_for_all_layers_is_that_of_each(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(built(tokens, name)), inputs(tokens)
    states = model.states(Embedded(model.embed(ids), mask))
    assert len(states) == LAYERS + 1 and states[0].shape == (1, len(ids), model.table.shape[-1])
    together = model.readout(torch.stack(states, dim=1))
    torch.testing.assert_close(together, logits(model, ids, mask), rtol=0, atol=1e-6)
    by_hand = states[1][0] @ model.head.weight[0] + model.head.bias[0]
    torch.testing.assert_close(together[0, 1], by_hand, rtol=0, atol=1e-6)


def test_cells_of_a_stack_do_not_mix(tokens: Tokens) -> None:
    seeds, (ids, mask) = (0, 1, 5), inputs(tokens)
    stack = shaken(built(tokens, "ut_text", seeds))
    together = logits(stack, ids, mask)
    together.square().sum().backward()
    for index, seed in enumerate(seeds):
        single = built(tokens, "ut_text", (seed,))
        single.load_state_dict({name: value[index : index + 1] for name, value in stack.state_dict().items()})
        alone = logits(single, ids, mask)
        torch.testing.assert_close(alone[0], together[index], rtol=0, atol=1e-5)
        alone.square().sum().backward()
        for (name, one), several in zip(single.named_parameters(), stack.parameters(), strict=True):
            assert one.grad.abs().max() > 1e-3, name
            torch.testing.assert_close(one.grad[0], several.grad[index], rtol=1e-4, atol=1e-5)
    assert (together[0] - together[1]).abs().min() > 1e-6


def test_the_weights_of_a_stack_are_functions_of_their_seeds(tokens: Tokens) -> None:
    together = built(tokens, "ut_text", (3, 4, 3)).state_dict()
    alone = built(tokens, "ut_text", (4,)).state_dict()
    assert set(together) == {f"unrolled.{n}" for n in ("attention", "feedforward", "bias")} | {
        "table",
        "head.weight",
        "head.bias",
    }
    for name, value in together.items():
        assert torch.equal(value[0], value[2]) and torch.equal(value[1], alone[name][0])
        assert torch.equal(value[0], value[1]) == name.endswith("bias")
    assert together["table"].std().item() == pytest.approx(0.5, rel=0.2)
