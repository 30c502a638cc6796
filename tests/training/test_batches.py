"""The batches of the loop: the same for every arm and stack, their noise, and what an epoch draws."""

import numpy as np
import pytest
import torch

from descent.cells import Cell
from descent.schema import VideoBudget
from descent.tasks.video.batches import SequenceTask
from descent.tasks.video.data import Prepared
from tests.fakes.core import TOKENS, small_params
from tests.fakes.stacks import ARMS, CPU, stack


def task(prepared: Prepared, cells: list[Cell], sigma: float | None = None, **budget: object) -> SequenceTask:
    values = small_params().model_budget("dust") | budget
    known = {name: values[name] for name in VideoBudget.model_fields if name in values}
    scale = prepared.sigma if sigma is None else sigma
    return SequenceTask(prepared, VideoBudget(**known), scale, "sum", CPU, cells)


def test_all_arms_and_every_stack_see_the_same_batches_and_noise(prepared: Prepared) -> None:
    together = task(prepared, stack())
    for epoch, step in ((0, 0), (0, 2), (3, 1)):
        noisy, clean, *_ = together.batch(epoch, step)
        for index, cell in [(n, cell) for arm in ARMS[1:] for n, cell in enumerate(stack(arm))]:
            own_noisy, own_clean, *_ = task(prepared, [cell]).batch(epoch, step)
            assert torch.equal(own_noisy[0], noisy[index]) and torch.equal(own_clean[0], clean[index])
    assert not torch.equal(clean[1], clean[2]), "another seed, other sequences"


def test_a_cell_of_a_range_of_noise_has_the_levels_of_its_own_seed(prepared: Prepared) -> None:
    cells = stack("erm_range", seeds=(0, 1, 1))
    together = task(prepared, cells).batch(1, 2)
    for index, cell in enumerate(cells):
        assert torch.equal(task(prepared, [cell]).batch(1, 2).noisy[0], together.noisy[index])
    full = task(prepared, stack(seeds=(0, 1, 1))).batch(1, 2)
    shares = ((together.noisy - together.clean) / (full.noisy - full.clean))[1:].flatten(2).nanmedian(-1).values
    assert shares.min() >= 0 and shares.max() <= 1 and len(shares[0].unique()) == shares.shape[1]
    torch.testing.assert_close(shares[0], shares[1], rtol=0, atol=1e-4)


def test_noise_is_eps_sigma_times_one_unit_noise(prepared: Prepared) -> None:
    cells = stack(seeds=(0, 0, 0))
    many = task(prepared, cells, batch=40, epoch_inputs=40)
    noisy, clean, *_ = many.batch(0, 0)
    noise = noisy - clean
    assert not noise[0].any()
    torch.testing.assert_close(noise[1] / 0.2, noise[2] / 0.5, rtol=0, atol=1e-5)
    count = noise[2].numel()
    assert noise[2].std().item() == pytest.approx(0.5 * prepared.sigma, rel=4 / np.sqrt(2 * count))
    assert abs(noise[2].mean().item()) < 4 * 0.5 * prepared.sigma / np.sqrt(count)
    fixed = task(prepared, cells, sigma=0.25).batch(0, 0)
    usual = task(prepared, cells).batch(0, 0)
    ratio = (fixed[0] - fixed[1])[2] / (usual[0] - usual[1])[2]
    assert ratio.median().item() == pytest.approx(0.25 / prepared.sigma, rel=1e-3)


def test_an_epoch_draws_without_replacement_and_epochs_differ(prepared: Prepared) -> None:
    one = task(prepared, stack()[1:2], batch=9, epoch_inputs=None)
    (train,) = one.train
    every = train.gather(np.arange(len(train))).float() / 255
    assert (len(train), one.steps) == (4 * (13 // TOKENS + 17 // TOKENS), 4)

    def drawn(epoch: int) -> list[bytes]:
        clean = [one.batch(epoch, step)[1][0] for step in range(one.steps)]
        return [row.numpy().tobytes() for row in torch.cat(clean)]

    assert len(set(drawn(0))) == 36 == len({row.numpy().tobytes() for row in every})
    assert set(drawn(0)) == set(drawn(1)) and drawn(0) != drawn(1) and drawn(0) == drawn(0)
    noises = [batch.noisy - batch.clean for batch in (one.batch(0, 0), one.batch(1, 0), one.batch(0, 1))]
    for one_noise, other in ((0, 1), (0, 2), (1, 2)):
        assert not torch.allclose(noises[one_noise], noises[other], atol=1e-3)
    assert task(prepared, stack(), batch=50, epoch_inputs=None).size == 36


def test_validation_is_the_same_every_time_for_every_seed_and_counts_each_sequence_once(
    prepared: Prepared,
) -> None:
    together, alone = task(prepared, stack(), batch=4), task(prepared, [stack()[2]], batch=4)
    sizes = [size for _, size in together.validation()]
    assert sum(sizes) == 10 and max(sizes) <= 4
    for (several, _), (again, _), (one, _) in zip(
        together.validation(), together.validation(), alone.validation(), strict=True
    ):
        assert torch.equal(several[0], again[0])
        assert torch.equal(several[0][2], one[0][0])
    first, second = (batch[0][2] - batch[1][0] for batch, _ in list(together.validation())[:2])
    assert not torch.allclose(first[:3], second[:3], atol=1e-3)
