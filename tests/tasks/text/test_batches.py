"""Text training: batches by their key, noise by level and sigma, losses by hand."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from descent.arms import deep_supervision
from descent.cells import Cell
from descent.models.parts.text import Embedded
from descent.runner.checkpoints import FileCheckpoint
from descent.schema import TextBudget
from descent.tasks.common.items import setting
from descent.tasks.text import batches
from descent.tasks.text import feed as feeds
from descent.tasks.text.batches import Batch, ClassificationTask
from descent.tasks.text.data import Tokens
from descent.tasks.text.embeddings import Scale
from descent.training.noise import Stream
from descent.training.stack import train_stack
from tests.fakes.text import BUDGET, CPU, DATASET, fed, normal, text_params, write_tokens


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


def stack(arm: str = "constrained", seed: int = 0, eps: tuple[float, ...] = (0.0, 0.2, 0.5)) -> list[Cell]:
    return [Cell("text", DATASET, "ut_text", arm, 2, level, seed) for level in eps]


def task(tokens: Tokens, cells: list[Cell]) -> ClassificationTask:
    text, budget = text_params().text, TextBudget(layers=[2], batch=8, epochs=1, lr=0.1)
    return ClassificationTask(tokens, budget, text.length_pool, text.validation_batch, CPU, cells)


def same_batch(one: Batch, other: Batch) -> bool:
    tensors = zip(one[:3], other[:3], strict=True)
    return one[3:] == other[3:] and all(a.shape == b.shape and torch.equal(a, b) for a, b in tensors)


@pytest.mark.parametrize("arm", ["unconstrained", "deep_supervision"])
def test_a_batch_is_a_function_of_seed_epoch_and_step_in_all_arms(tokens: Tokens, arm: str) -> None:
    one, two = task(tokens, stack()), task(tokens, stack(arm)[1:])
    places = [(0, 0), (2, 4), (0, 3), (1, 1)]
    forwards = {place: one.batch(*place) for place in places}
    for place in reversed(places):
        assert same_batch(two.batch(*place), forwards[place]) and forwards[place].key == (0, *place)
    assert not same_batch(one.batch(1, 0), one.batch(0, 0))
    other = task(tokens, stack(seed=1)).batch(0, 0)
    assert other.key == (1, 0, 0) and not torch.equal(other.labels, one.batch(0, 0).labels)


def test_the_noise_of_a_batch_is_drawn_with_it_and_is_the_same(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fed(tokens, "ut_text").build(stack())
    one, other = task(tokens, stack()), task(tokens, stack())
    late = other.batch(0, 1)
    expected = other.losses(model, late)
    one.losses(model, one.batch(0, 0))  # tells the width
    early = one.batch(0, 1)
    assert late.unit is None and early.unit.shape == (1, *early.ids.shape, one.width)
    monkeypatch.delattr(Stream, "normal")  # nothing is drawn where steps are launched
    assert torch.equal(one.losses(model, early), expected)
    with pytest.raises(AttributeError, match="normal"):
        other.losses(model, late)


def test_a_bucket_of_lengths_is_one_graph_and_padding_changes_no_loss(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, seen = stack(), []

    def replayed(function: Callable, mode: str) -> Callable:
        def made(model: nn.Module, noisy: Embedded) -> Tensor:
            seen.append((mode, noisy.mask.shape[1], noisy.vectors.shape[2]))
            return function(model, noisy)

        return made

    monkeypatch.setattr(torch, "compile", replayed)
    monkeypatch.setattr(batches, "BUCKET", 4)
    own, other = task(tokens, cells), task(tokens, cells)
    other.compile("graphs")
    model = fed(tokens, "ut_text").build(cells)
    given = [own.batch(epoch, step) for epoch in range(2) for step in range(own.steps)]
    given += [batch for batch, _ in own.validation()]
    for batch in given:
        torch.testing.assert_close(other.losses(model, batch), own.losses(model, batch), rtol=1e-5, atol=1e-6)
    lengths, longest = [batch.ids.shape[1] for batch in given], max(batch.ids.shape[1] for batch in given)
    assert len({*lengths}) > len({*seen}), "fewer graphs than lengths"
    assert all(mode == "reduce-overhead" and mask == vectors for mode, mask, vectors in seen)
    for length, (_, padded, _) in zip(lengths, seen, strict=True):
        assert length <= padded < length + 4 and (padded % 4 == 0 or padded >= longest)


def test_an_epoch_has_whole_batches_of_other_texts_in_another_order(tokens: Tokens) -> None:
    one = task(tokens, stack())
    assert (one.size, one.steps) == (8, 5)
    texts = tokens.split("train")
    every = {tuple(texts.tokens[a:b]) for a, b in zip(texts.offsets[:-1], texts.offsets[1:], strict=True)}
    assert len(every) == 43
    epochs = []
    for epoch in range(2):
        batches = [one.batch(epoch, step) for step in range(one.steps)]
        rows = [tuple(ids[mask].tolist()) for batch in batches for ids, mask in zip(*batch[:2], strict=True)]
        assert len(rows) == 40 == len(set(rows)) and set(rows) <= every
        assert all(batch.training and batch.mask.any(0).all() for batch in batches)
        epochs.append(rows)
    assert epochs[0] != epochs[1]
    sizes = [size for _, size in one.validation()]
    assert sum(sizes) == 14 and max(sizes) == 4 and not any(batch.training for batch, _ in one.validation())
    again = zip(one.validation(), task(tokens, stack(seed=3)).validation(), strict=True)
    assert all(same_batch(first, second) for (first, _), (second, _) in again), "for every seed the same"


def test_a_data_set_that_tells_more_classes_has_other_cells(tokens: Tokens) -> None:
    """The readout has a row a class; the prepared data's digest knows nothing of them."""
    [one, more] = [
        feeds.feed(text_params(), replace(tokens, classes=classes), "ut_text", CPU) for classes in (2, 3)
    ]
    assert one.definition(stack()[0]) != more.definition(stack()[0])


@pytest.mark.parametrize("arm", ["constrained", "unconstrained"])
@pytest.mark.parametrize("cut", [[1, 1, 1, 1, 1], [1, 2, 2]])
def test_a_pass_cut_in_parts_is_the_same_training_looked_at_more_often(
    tokens: Tokens, arm: str, cut: list[int], tmp_path: Path
) -> None:
    """Of five batches, also where it was interrupted within the pass: all are learnt from, none is left out."""

    def interrupt(done: int, f: Tensor) -> None:
        if done == 2:
            raise KeyboardInterrupt

    own, found = f"{BUDGET}.models.distilbert", []
    for parts in (1, len(cut)):
        params = text_params(
            {f"{own}.epochs": 2, f"{own}.parts": parts, "text.selection": "final"}
            | {"training.checkpoint_seconds": 0.0}
        )
        feed = feeds.feed(params, tokens, "distilbert", CPU)
        one = Cell("text", DATASET, "distilbert", arm, 2, 0.4, 0)
        kept = FileCheckpoint(tmp_path / f"{parts}")
        with pytest.raises(KeyboardInterrupt):
            train_stack(feed.recipe, [one], [setting(params, one)], kept, interrupt)
        found.append(train_stack(feed.recipe, [one], [setting(params, one)], kept, lambda *done: None))
    whole, parted = found
    assert (len(whole.history), len(parted.history)) == (2, 2 * len(cut))
    for name, value in whole.weights.items():
        assert torch.equal(parted.weights[name], value), name
    for name in ("loss_train", *(["multiplier_mean"] if arm == "constrained" else [])):
        logs = [steps * log[name] for steps, log in zip(cut, parted.history[len(cut) :], strict=True)]
        mean = torch.stack(logs).sum(0) / 5
        torch.testing.assert_close(mean, whole.history[1][name], rtol=1e-5, atol=1e-7)
        assert (parted.history[-1][name] - mean).abs().max() > 1e-3, "the end is not the mean"


class Probe(nn.Module):
    """Notes the noisy embeddings that it is given, and answers nothing."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table, self.seen = nn.Parameter(table), []

    def embed(self, ids: Tensor) -> Tensor:
        return self.table[:, ids]

    def states(self, noisy: Embedded) -> list[Tensor]:
        self.seen.append(noisy.vectors.detach())
        return [noisy.vectors.mean(2)]

    def readout(self, state: Tensor) -> Tensor:
        return 0 * state[..., :2]


def test_cells_get_one_unit_noise_scaled_by_their_own_level_and_sigma(tokens: Tokens) -> None:
    sizes = torch.tensor([1.0, 1.0, 3.0])
    probe = Probe(sizes[:, None, None] * torch.randn(1, 14, 50, generator=torch.Generator().manual_seed(1)))
    one, sigma = task(tokens, stack()), Scale(tokens.frequencies, CPU)(probe)
    torch.testing.assert_close(sigma, sizes * sigma[0], rtol=1e-5, atol=0)
    losses = one.losses(probe, one.batch(0, 0))
    torch.testing.assert_close(losses, torch.full((3, 1), math.log(2)))
    noise = probe.seen[0] - probe.embed(one.batch(0, 0).ids)
    assert not noise[0].any()
    torch.testing.assert_close(noise[1] / 0.2, noise[2] / 0.5 / 3, rtol=0, atol=1e-5)
    assert noise[1].std().item() == pytest.approx(0.2 * sigma[0].item(), rel=4 / math.sqrt(2 * noise[1].numel()))
    for place in ((0, 0), (0, 1), (1, 0)):
        one.losses(probe, one.batch(*place))
    first, again, step, epoch = (seen[2, :2, :4] for seen in probe.seen)
    assert torch.equal(first, again) and not torch.equal(first, step) and not torch.equal(first, epoch)


def test_an_arm_of_a_range_draws_a_level_for_every_text_and_validates_at_eps(tokens: Tokens) -> None:
    sizes, eps = torch.tensor([1.0, 1.0, 3.0]), torch.tensor([0.0, 0.2, 0.5])
    probe = Probe(sizes[:, None, None] * torch.randn(1, 14, 50, generator=torch.Generator().manual_seed(1)))
    one, sigma = task(tokens, stack("erm_range")), Scale(tokens.frequencies, CPU)(probe)

    def moved(batch: Batch) -> Tensor:
        """What the probe saw beyond the clean embeddings, in units of each cell's full noise."""
        one.losses(probe, batch)
        full = (eps * sigma)[1:, None, None, None] * one.unit(batch)
        noise = probe.seen[-1] - probe.embed(batch.ids)
        assert not noise[0].any()
        return noise[1:] / full

    batch = one.batch(0, 1)
    found = moved(batch)
    shares = found.flatten(2).median(-1).values
    torch.testing.assert_close(found, shares[..., None, None].expand_as(found), rtol=0, atol=0.02)
    torch.testing.assert_close(shares[0], shares[1], rtol=0, atol=1e-3)
    assert shares.min() >= 0 and shares.max() <= 1 and len(shares[0].unique()) == len(batch.ids) > 4
    held, _ = next(iter(one.validation()))
    torch.testing.assert_close(moved(held).flatten(2).median(-1).values, torch.ones(2, len(held.ids)))


class Drawing(Probe):
    """Draws from the global stream, as a library's dropout does."""

    def states(self, noisy: Embedded) -> list[Tensor]:
        self.drawn = torch.randn(noisy.vectors[:1].shape)
        return super().states(noisy)


def test_what_a_model_draws_for_itself_follows_the_batch_and_not_its_noise(tokens: Tokens) -> None:
    probe, one = Drawing(normal(1, 14, 50)), task(tokens, stack(eps=(1.0,)))
    batch, drawn = one.batch(0, 1), []
    for world in (1, 2):
        torch.random.manual_seed(world)
        one.losses(probe, batch)
        drawn.append(probe.drawn)
    assert torch.equal(*drawn)
    noise = (probe.seen[0] - probe.embed(batch.ids)).flatten()
    both = torch.stack([noise, drawn[0].flatten()])
    assert abs(torch.corrcoef(both)[0, 1].item()) < 4 / math.sqrt(len(noise))


def test_sigma_is_the_standard_deviation_over_the_tokens_of_the_training_texts(tokens: Tokens) -> None:
    model = fed(tokens, "ut_text").build(stack(seed=4)[:2])
    model.table.data[1, :3] *= 4  # so that how often a token comes matters
    texts = tokens.split("train")
    for cell, sigma in enumerate(Scale(tokens.frequencies, CPU)(model).tolist()):
        entries = [x for token in texts.tokens for x in model.table[cell, int(token)].tolist()]
        assert sigma == pytest.approx(np.std(entries), rel=1e-5)
        assert cell == 0 or abs(sigma - model.table[cell].std().item()) > 1e-2 * sigma
    scale = Scale(tokens.frequencies, CPU)
    before = scale(model)
    model.table.data *= 2
    torch.testing.assert_close(scale(model), 2 * before), "trained embeddings are measured again"


def test_losses_without_noise_are_cross_entropies_by_hand(tokens: Tokens) -> None:
    cells = stack(eps=(0.0, 0.0))
    one, model = task(tokens, cells), fed(tokens, "ut_text").build(cells)
    model.head.bias.data[1, 0] = 2.0
    batch = one.batch(0, 1)
    found = one.losses(model, batch)
    for cell in range(2):
        for layer in range(3):
            states = model.states(Embedded(model.embed(batch.ids), batch.mask))
            scores = model.readout(states[layer])[cell].detach().double().numpy()
            nats = [
                math.log(sum(math.exp(s) for s in row)) - row[k]
                for row, k in zip(scores, batch.labels, strict=True)
            ]
            assert found[cell, layer].item() == pytest.approx(sum(nats) / 8, abs=1e-6)
    assert (found[0] - found[1]).abs().min() > 0.05


def test_deep_supervision_moves_the_weights_by_the_losses_of_all_layers(tokens: Tokens) -> None:
    cells = stack("deep_supervision", eps=(0.4, 0.0))
    one, model = task(tokens, cells), fed(tokens, "ut_text").build(cells)
    batch, weights = one.batch(0, 1), list(model.parameters())
    arm = deep_supervision.Arm([deep_supervision.Settings(weights="uniform")] * 2, 2, CPU)
    f = one.losses(model, batch)
    found = torch.autograd.grad(arm.objective(f, 0).sum(), weights, retain_graph=True)
    each = [
        torch.autograd.grad(f[:, layer].sum(), weights, retain_graph=True, allow_unused=True) for layer in range(3)
    ]
    for parameter, ours, *by_layer in zip(weights, found, *each, strict=True):
        right = sum(torch.zeros_like(parameter) if own is None else own for own in by_layer) / 3
        torch.testing.assert_close(ours, right)
        assert (ours - by_layer[-1]).abs().max() > 1e-3, "not by the last layer alone"
    assert each[0][-1].abs().max() > 1e-3, "the readout learns from the texts as they are"
