"""DUST is what eq. (74)-(76) say: checked against a second implementation, one sequence at a time in numpy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import softshrink

from descent.cells import Cell
from descent.models import dust, ut
from descent.models.dust import DUST
from descent.models.parts.inputs import VideoInputs
from descent.models.parts.layers import dct, per_cell
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.video.feed import feed
from descent.tasks.video.losses import squared_error
from tests.fakes.core import small_params, write_prepared

CELLS, BATCH, TOKENS, LAYERS, PIXELS, ATOMS = 2, 3, 5, 7, 4, 9
THRESHOLD = 0.05


def soft(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.maximum(np.abs(x) - THRESHOLD, 0)


def by_hand(
    noisy: np.ndarray,
    dictionaries: list[np.ndarray],
    c: float | list[float],
    kappa: float = 1.0,
    keys: np.ndarray | None = None,
    shrink: Callable[[np.ndarray], np.ndarray] = soft,
) -> list[np.ndarray]:
    """Outputs of layers 0..L for one sequence (tokens, pixels); `keys` is W where not D_l; c one, or each's."""
    steps = c if isinstance(c, list) else [c] * len(dictionaries)
    h = shrink(noisy @ dictionaries[0] / steps[0])
    outputs = [h @ dictionaries[0].T]
    for d, own in zip(dictionaries, steps, strict=True):
        w = d if keys is None else keys
        half = np.zeros_like(h)
        for i in range(len(h)):
            scores = np.array([np.dot(w @ h[i], w @ h[j]) for j in range(len(h))])
            weights = np.exp(scores - scores.max())
            half[i] = (1 - kappa) * h[i] + kappa * sum(a * row for a, row in zip(weights / weights.sum(), h))  # noqa: B905
        h = shrink(half + (noisy - half @ d.T) @ d / own)
        outputs.append(h @ d.T)
    return outputs


def ista(noisy: np.ndarray, dictionaries: list[np.ndarray], c: float) -> list[np.ndarray]:
    """Iterative shrinkage of one patch: no tokens, no attention."""
    h = soft(dictionaries[0].T @ noisy / c)
    outputs = [dictionaries[0] @ h]
    for d in dictionaries:
        h = soft(h + d.T @ (noisy - d @ h) / c)
        outputs.append(d @ h)
    return outputs


def make(shared: bool, **options: object) -> DUST:
    """A float64 stack whose dictionaries are random, another for each cell (and layer)."""
    settings = {"shrink": lambda x: softshrink(x, THRESHOLD), "step_scale": 1.5} | options
    model = DUST(CELLS, LAYERS, dct(PIXELS, ATOMS), shared, **settings).double()
    model.dictionaries.data = 0.4 * torch.randn(model.dictionaries.shape, generator=stream(1), dtype=torch.float64)
    return model


def stream(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def signal(tokens: int = TOKENS) -> torch.Tensor:
    return torch.randn(CELLS, BATCH, tokens, PIXELS, generator=stream(2), dtype=torch.float64)


def outputs(model: DUST, noisy: torch.Tensor) -> list[np.ndarray]:
    return [model.readout(state).detach().numpy() for state in model.states(noisy)]


def layers_of(model: DUST, cell: int) -> list[np.ndarray]:
    """D_1 ... D_L of one cell."""
    own = list(model.dictionaries[cell].detach().numpy())
    return own * model.layers if len(own) == 1 else own


@pytest.mark.parametrize("shared", [True, False])
def test_without_attention_dust_is_ista(shared: bool) -> None:
    model, noisy = make(shared), signal(tokens=1)
    result = outputs(model, noisy)
    assert len(result) == LAYERS + 1
    for cell in range(CELLS):
        for item in range(BATCH):
            expected = ista(noisy[cell, item, 0].numpy(), layers_of(model, cell), model.c)
            assert np.ptp([np.abs(x).sum() for x in expected]) > 0.01, "layers must differ"
            for found, value in zip(result, expected, strict=True):
                np.testing.assert_allclose(found[cell, item, 0], value, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kappa", [1.0, 0.3])
@pytest.mark.parametrize("fixed", [False, True])
def test_dust_equals_its_equations_token_by_token(shared: bool, kappa: float, fixed: bool) -> None:
    model, noisy = make(shared, kappa=kappa, fixed_attention=fixed), signal()
    keys = dct(PIXELS, ATOMS).double().numpy() if fixed else None
    result = outputs(model, noisy)
    for cell in range(CELLS):
        for item in range(BATCH):
            expected = by_hand(noisy[cell, item].numpy(), layers_of(model, cell), model.c, kappa, keys)
            for found, value in zip(result, expected, strict=True):
                np.testing.assert_allclose(found[cell, item], value, atol=1e-12)


def test_equal_dictionaries_make_per_layer_equal_shared() -> None:
    shared, own, noisy = make(shared=True), make(shared=False), signal()
    own.dictionaries.data = shared.dictionaries.data.expand(-1, LAYERS, -1, -1).clone()
    for one, other in zip(shared.states(noisy), own.states(noisy), strict=True):
        assert one.codes.shape == (CELLS, BATCH, TOKENS, ATOMS)
        assert one.estimate.shape == (CELLS, BATCH, TOKENS, PIXELS)
        torch.testing.assert_close(one.codes, other.codes, rtol=0, atol=1e-12)
        torch.testing.assert_close(one.estimate, other.estimate, rtol=0, atol=1e-12)


def test_without_mixing_tokens_do_not_see_each_other() -> None:
    model, noisy = make(shared=True, kappa=0.0), signal()
    result = outputs(model, noisy)
    for token in range(TOKENS):
        expected = ista(noisy[1, 2, token].numpy(), layers_of(model, 1), model.c)
        np.testing.assert_allclose(result[-1][1, 2, token], expected[-1], atol=1e-12)


def test_one_linear_layer_is_affine_in_kappa() -> None:
    noisy = signal()

    def last(kappa: float) -> np.ndarray:
        model = DUST(CELLS, 1, dct(PIXELS, ATOMS), True, shrink=lambda x: x, kappa=kappa).double()
        return outputs(model, noisy)[-1]

    assert np.abs(last(1.0) - last(0.0)).max() > 0.1
    np.testing.assert_allclose(last(0.3), 0.7 * last(0.0) + 0.3 * last(1.0), atol=1e-12)


def test_the_step_is_a_constant_of_the_initial_dictionary() -> None:
    model = make(shared=True, step_scale=1.5)
    before = model.c
    model.dictionaries.data *= 3
    model.states(signal())
    assert model.c == before == pytest.approx(1.5 * np.linalg.norm(dct(PIXELS, ATOMS).numpy(), 2) ** 2, rel=1e-6)


def test_the_dictionaries_are_the_only_parameters_and_each_layer_uses_its_own() -> None:
    model = make(shared=False)
    assert [name for name, _ in model.named_parameters()] == ["dictionaries"]
    before = outputs(model, signal())
    model.dictionaries.data[:, 4] += 0.1  # D_5
    after = outputs(model, signal())
    changed = [not np.array_equal(x, y) for x, y in zip(before, after, strict=True)]
    assert changed == [layer >= 5 for layer in range(LAYERS + 1)]


def test_an_untrained_dust_descends_on_sparse_patches() -> None:
    dictionary = dct(16, 64)
    codes = torch.randn(2, 29, 1, 64, generator=stream(3)) * (torch.rand(2, 29, 1, 64, generator=stream(4)) < 0.1)
    clean = per_cell(codes, dictionary.expand(2, -1, -1).mT).expand(-1, -1, 5, -1)
    noisy = clean + 0.1 * torch.randn(clean.shape, generator=stream(5))
    model = DUST(2, LAYERS, dictionary, True, lambda x: softshrink(x, 0.01), step_scale=1.5)
    with torch.no_grad():
        f = torch.stack([squared_error(model.readout(x), clean) for x in model.states(noisy)], dim=1)
    assert (f[:, 1:] < f[:, :-1]).all()
    assert (f[:, -1] < 0.5 * f[:, 0]).all()


@pytest.mark.parametrize("arm", ["constrained", "unconstrained", "deep_supervision"])
def test_build_gives_each_arm_the_dictionaries_that_params_asks_for(tmp_path: Path, arm: str) -> None:
    cells = [Cell("video", "ucsd", "dust", arm, 3, eps, 0) for eps in (0.0, 0.5)]
    prepared = write_prepared(tmp_path / "ucsd")
    for setting, count in (("shared", 1), ("per_layer", 3)):
        opposite = {"shared": "per_layer", "per_layer": "shared"}[setting]
        values = {"dictionaries": opposite, "arms": {arm: {"dictionaries": setting}}}
        model = feed(small_params({"models.dust": values}), prepared, "dust", torch.device("cpu")).build(cells)
        assert model.dictionaries.shape == (2, count, 16, 64)
        torch.testing.assert_close(model.dictionaries, dct(16, 64).expand(2, count, -1, -1), rtol=0, atol=0)
        assert model.states(torch.zeros(2, 3, 5, 16))[-1].codes.shape[-1] == 64


@pytest.mark.parametrize("decouple", [False, True])
def test_the_codes_reading_of_ut_is_dust_with_relu(decouple: bool) -> None:
    params = small_params({"models.ut": {"reading": "codes", "decouple": decouple, "step_scale": 1.25}})
    asked = settings_by_arm(params, "ut")["constrained"], budget_of(params, "ut"), VideoInputs(4, "")
    model = ut.build(*asked, 3, [0, 0]).double()
    assert model.dictionaries.shape[1] == (3 if decouple else 1) and ut.width(*asked) == 64
    model.dictionaries.data += 0.1 * torch.randn(model.dictionaries.shape, generator=stream(6))
    noisy = torch.rand(2, 3, 5, 16, generator=stream(7), dtype=torch.float64)
    assert model.c == pytest.approx(1.25 * np.linalg.norm(dct(16, 64).numpy(), 2) ** 2, rel=1e-6)
    expected = by_hand(noisy[1, 2].numpy(), layers_of(model, 1), model.c, shrink=lambda x: np.maximum(x, 0))
    for found, value in zip(outputs(model, noisy), expected, strict=True):
        np.testing.assert_allclose(found[1, 2], value, atol=1e-12)


def test_a_state_is_as_wide_as_its_width_says() -> None:
    params, inputs = small_params(), VideoInputs(4, "")
    for module, name, width in ((dust, "dust", 64), (ut, "ut", 16)):
        asked = settings_by_arm(params, name)["constrained"], budget_of(params, name), inputs
        assert module.width(*asked) == width
        state = module.build(*asked, 2, [0]).states(torch.zeros(1, 3, 5, 16))[-1]
        assert (state.codes if name == "dust" else state).shape[-1] == width
