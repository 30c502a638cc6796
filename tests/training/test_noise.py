"""Streams of random numbers: a key says all, and no purpose meets another's numbers."""

import itertools

import numpy as np
import pytest
import torch

from descent.schema import SEEDS
from descent.tasks.video.data import CLIPS
from descent.training.noise import (
    DROPOUT,
    RESAMPLES,
    TEST,
    VALIDATION,
    WEIGHTS,
    Stream,
    drawn_levels,
    embedding_scale,
    generator,
    normals,
    perturb,
    seeded,
)

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def drawn(*key: int) -> tuple[float, ...]:
    return tuple(torch.rand(3, generator=generator(*key), dtype=torch.float64).tolist())


def test_streams_of_different_purposes_never_meet() -> None:
    small = range(4)
    batches = [(seed, epoch, step) for seed, epoch, step in itertools.product(small, repeat=3)]
    others = [
        (purpose, a, b) for purpose in (VALIDATION, TEST, WEIGHTS) for a, b in itertools.product(small, repeat=2)
    ]
    keys = batches + others + [(*key, DROPOUT) for key in batches]
    assert len({drawn(*key) for key in keys}) == len(keys)
    assert drawn(*keys[5]) == drawn(*keys[5])


def test_no_seed_begins_the_key_of_another_stream() -> None:
    assert min(VALIDATION, TEST, WEIGHTS, RESAMPLES, CLIPS) == SEEDS + 1


def test_the_global_stream_is_lent_and_given_back() -> None:
    before = torch.get_rng_state()
    found = []
    for key in ((1, 2), (1, 3), (1, 2)):
        with seeded(*key):
            found.append(torch.rand(4))
    assert torch.equal(found[0], found[2]) and not torch.equal(found[0], found[1])
    assert torch.equal(torch.get_rng_state(), before)


def test_noise_has_the_level_of_each_cell() -> None:
    clean, unit = torch.rand(1, 50, 40, 30), torch.randn(1, 50, 40, 30)
    noise = perturb(clean, unit, torch.tensor([0.0, 0.5, 2.0]), 0.3) - clean
    assert noise.std((1, 2, 3)).tolist() == pytest.approx([0.0, 0.15, 0.6], rel=0.02)
    assert torch.allclose(noise[2], 4 * noise[1], atol=1e-6)


def test_the_scale_of_embeddings_is_their_spread_over_the_words_of_the_texts() -> None:
    table = torch.randn(2, 9, 5) * torch.tensor([1.0, 3.0])[:, None, None] + 0.5
    words = torch.tensor([1, 1, 1, 4, 4, 8])
    expected = [cell[words].std(correction=0).item() for cell in table]
    found = embedding_scale(table, torch.bincount(words, minlength=9) / len(words))
    assert found.tolist() == pytest.approx(expected, rel=1e-5)


def test_a_stream_draws_what_its_generator_draws_and_gives_the_same_to_all_who_ask() -> None:
    stream = Stream(7, 1, 2)
    expected = torch.randn((3, 4, 5), generator=generator(7, 1, 2))
    assert torch.equal(stream.normal(3, 4, 5), expected)
    assert stream.normal(3, 4, 5) is stream.normal(3, 4, 5), "drawn once for all levels"
    assert torch.equal(Stream(7, 1, 2).normal(3, 4, 5), expected), "whoever else asked before"
    assert not torch.equal(Stream(7, 1, 3).normal(3, 4, 5), expected)
    assert torch.equal(stream.normal(2, 3), torch.randn((2, 3), generator=generator(7, 1, 2)))
    first, again, other = (Stream(*key).numpy().random(9) for key in ((7, 1, 2), (7, 1, 2), (7, 1, 3)))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert np.array_equal(stream.numpy().random(9), stream.numpy().random(9)), "a fresh one each time"


GOLDEN = {  # of twenty, which are drawn otherwise than a few are
    (7, 1, 2): [-0.12295434, -0.89209175, 2.7202477, 0.27722633],
    (0, 3, 5, DROPOUT): [-1.5430941, -0.8196182, 0.25790638, -1.8889908],
    (TEST, 1): [-2.5881052, -2.0834858, 1.0698235, -0.20469852],
}


@pytest.mark.parametrize("shape", [(3,), (5, 7), (4, 20, 16)])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_a_gpu)])
def test_the_noise_of_several_keys_is_each_key_s_own(device: str, shape: tuple[int, ...]) -> None:
    keys = [(7, 1, 2), (3, 0, 0), (7, 1, 3), (7, 1, 2)]
    found = normals(keys, shape, torch.device(device))
    assert found.device.type == device and found.shape == (4, *shape)
    for row, key in zip(found, keys, strict=True):
        assert torch.equal(row.cpu(), Stream(*key).normal(*shape))


@pytest.mark.parametrize("key", GOLDEN, ids=str)
def test_a_key_s_numbers_are_the_same_in_every_version_of_the_library(key: tuple[int, ...]) -> None:
    assert torch.randn(20, generator=generator(*key))[:4].tolist() == pytest.approx(GOLDEN[key], abs=1e-6)


@on_a_gpu
def test_a_gpu_is_handed_the_numbers_that_a_cpu_draws() -> None:
    shape, eps = (3, 2**17), torch.tensor([0.1, 0.2])  # more numbers than one wave of threads
    host, card = (Stream(7, 1, 2, device=device).normal(*shape) for device in ("cpu", "cuda"))
    assert card.is_cuda and torch.equal(card.cpu(), host)
    levels = drawn_levels(eps.cuda(), (7, 1, 2), 9, torch.device("cuda"))
    assert torch.equal(levels.cpu(), drawn_levels(eps, (7, 1, 2), 9, torch.device("cpu")))


def test_numbers_are_those_of_the_host_s_stream_whatever_the_device_they_are_for() -> None:
    drawn = Stream(7, 1, 2, device="meta").normal(2, 3)
    assert drawn.is_meta and drawn.shape == (2, 3), "sent, not drawn there"
    with pytest.raises(TypeError):
        generator(7, 1, 2, device="cuda")
