"""Steps of DUST that follow their dictionaries: of the length that descent on the reconstruction allows."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import softshrink

from descent.models.dust import DUST
from descent.models.parts.layers import dct, largest
from tests.models.test_dust import (
    ATOMS,
    BATCH,
    CELLS,
    LAYERS,
    PIXELS,
    THRESHOLD,
    TOKENS,
    by_hand,
    layers_of,
    make,
    outputs,
    signal,
)


@pytest.mark.parametrize("shape", [(2, 3, 4, 9), (5, 16, 64), (1, 64, 64)])
def test_the_largest_singular_value_is_that_of_the_decomposition(shape: tuple[int, ...]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    matrices[..., 0] *= 4  # as after training, one direction stands out
    exact = np.linalg.norm(matrices.numpy(), 2, axis=(-2, -1)) ** 2
    np.testing.assert_allclose(largest(matrices), exact, rtol=1e-3)
    assert largest(dct(16, 64)).item() == pytest.approx(np.linalg.norm(dct(16, 64).numpy(), 2) ** 2, rel=1e-5)


@pytest.mark.parametrize("bf16", [False, True])
def test_the_gradient_of_the_largest_singular_value_is_that_of_the_decomposition(bf16: bool) -> None:
    """Also in a region of bf16, where a parameter that was cast without gradient would lose its own in it."""
    own = torch.randn(4, 9, generator=torch.Generator().manual_seed(3))
    own[:, 0] *= 4
    slopes = []
    for square_of in (largest, lambda matrix: torch.linalg.matrix_norm(matrix.float(), 2) ** 2):
        matrix = torch.nn.Parameter(own.clone())
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            step = square_of(matrix)
            (step + (matrix @ torch.eye(9)).sum()).backward()
        slopes.append(matrix.grad)
    torch.testing.assert_close(*slopes, rtol=3e-2 if bf16 else 1e-3, atol=1e-2)


@pytest.mark.parametrize("shared", [True, False])
def test_current_steps_are_of_each_dictionary_as_it_is(shared: bool) -> None:
    model, noisy = make(shared, current=True, step_scale=1.5), signal()
    model.dictionaries.data *= torch.linspace(0.5, 4, model.dictionaries.shape[1], dtype=torch.float64)[
        :, None, None
    ]
    for cell in range(CELLS):
        layers = layers_of(model, cell)
        steps = [1.5 * np.linalg.norm(d, 2) ** 2 for d in layers]
        assert shared or max(steps) > 9 * min(steps)
        expected = by_hand(noisy[cell, 1].numpy(), layers, steps)
        for found, value in zip(outputs(model, noisy), expected, strict=True):
            np.testing.assert_allclose(found[cell, 1], value, rtol=1e-2, atol=1e-3)


def test_at_the_start_the_two_kinds_of_step_are_one() -> None:
    options = {"shrink": lambda x: softshrink(x, THRESHOLD), "step_scale": 1.5}
    start = dct(16, 64).double()  # of float32 the two would differ by what a processor rounds
    models = [DUST(CELLS, LAYERS, start, False, current=current, **options) for current in (False, True)]
    noisy = torch.randn(CELLS, BATCH, TOKENS, 16, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for one, other in zip(*(outputs(model, noisy) for model in models), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


@pytest.mark.parametrize("current", [False, True])
def test_a_current_step_descends_on_the_reconstruction_whatever_training_did(current: bool) -> None:
    """Without attention and threshold; the constant step is too long for a dictionary three times as large."""
    model = DUST(CELLS, LAYERS, dct(PIXELS, ATOMS), True, shrink=lambda x: x, kappa=0.0, current=current).double()
    model.dictionaries.data *= 3
    noisy = signal()
    errors = np.array([np.square(found - noisy.numpy()).sum() for found in outputs(model, noisy)])
    assert (np.diff(errors) <= 1e-9).all() == current, errors


@pytest.mark.parametrize("current", [False, True])
def test_in_bf16_codes_stay_there_and_step_lengths_are_those_of_float32(current: bool) -> None:
    """A c that is a tensor of float32 must not carry the iterates, the most numbers of a model, out of bf16."""
    model = DUST(CELLS, LAYERS, dct(PIXELS, ATOMS), False, shrink=lambda x: x, step_scale=1.5, current=current)
    model.dictionaries.data[..., 0] *= 3
    noisy = torch.randn(CELLS, BATCH, TOKENS, PIXELS, generator=torch.Generator().manual_seed(2))
    with torch.autocast("cpu", torch.bfloat16):
        states, found = model.states(noisy), largest(model.dictionaries)
    assert {state.codes.dtype for state in states} == {torch.bfloat16}
    torch.testing.assert_close(found, largest(model.dictionaries), rtol=1e-4, atol=0)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("current", [True, False])
def test_a_step_is_as_long_as_descent_on_the_reconstruction_has_it(shared: bool, current: bool) -> None:
    """|D_l|^2 / c by its meaning: without attention or threshold a step multiplies what is left over along the
    longest direction of D_l by 1 minus it."""
    model = make(shared, current=current, step_scale=1.5)
    scale = torch.linspace(0.7, 1.6, model.dictionaries.shape[1], dtype=torch.float64)
    model.dictionaries.data *= scale[:, None, None]
    lengths = model.step_lengths()
    assert lengths.shape == (CELLS, LAYERS)
    for cell in range(CELLS):
        for layer, dictionary in enumerate(layers_of(model, cell)):
            longest = np.linalg.svd(dictionary)[0][:, 0]  # of pixels
            c = 1.5 * largest(torch.from_numpy(dictionary)).item() if current else model.c
            left = longest - dictionary @ (dictionary.T @ longest) / c
            assert left @ longest == pytest.approx(1 - lengths[cell, layer].item(), abs=1e-6)
    assert current == bool((lengths - 1 / 1.5).abs().max() < 1e-2)


@pytest.mark.parametrize("scale", [0.01, 0.1, 3.0])
def test_with_a_threshold_that_follows_a_dictionary_times_a_number_is_the_same_network(scale: float) -> None:
    """With a fixed one a small dictionary, of which codes are large, does without any threshold."""
    noisy = signal()

    def found(follows: bool, times: float) -> np.ndarray:
        shrink = partial(softshrink, lambd=0.05)
        model = make(False, current=True, follows=follows, shrink=shrink)
        model.dictionaries.data *= times
        return np.stack(outputs(model, noisy))

    once = found(True, 1.0)
    np.testing.assert_allclose(found(True, scale), once, atol=1e-9)
    assert np.abs(found(False, scale) - found(False, 1.0)).max() > 1e-2 * np.abs(once).max()


def test_a_threshold_that_follows_is_the_fixed_one_at_the_start_and_less_by_the_share_of_a_longer_dictionary() -> (
    None
):
    """S of codes times r with a threshold t, divided by r, is S with t / r."""
    start = dct(16, 64).double()
    noisy = torch.randn(CELLS, BATCH, TOKENS, 16, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    def first(times: float, threshold: float, follows: bool) -> torch.Tensor:
        model = DUST(
            CELLS, 1, start, True, partial(softshrink, lambd=threshold), 1.5, current=True, follows=follows
        )
        model.dictionaries.data *= times
        return model.states(noisy)[0].codes

    torch.testing.assert_close(first(1.0, 0.2, True), first(1.0, 0.2, False), atol=1e-6, rtol=0)
    torch.testing.assert_close(first(2.0, 0.2, True), first(2.0, 0.1, False), atol=1e-6, rtol=0)
    assert (first(2.0, 0.2, True) - first(2.0, 0.2, False)).abs().max() > 0.01
