"""What both models are made of, UT against its energies, and stacks of cells against single ones."""

from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from descent.models import dust, ut
from descent.models.parts.denoiser import Pixels
from descent.models.parts.inputs import VideoInputs
from descent.models.parts.layers import attention, dct, per_cell
from descent.models.parts.unrolled import UT
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.video.references import UNTOLD, Map
from tests.fakes.core import small_params

CELLS, BATCH, TOKENS, LAYERS, PIXELS = 2, 3, 5, 7, 4


def stream(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=stream(seed), dtype=torch.float64)


def signal() -> Tensor:
    return normal(CELLS, BATCH, TOKENS, PIXELS, seed=2)


def make(**options: object) -> UT:
    """A float64 UT with random weights, others for each cell."""
    model = UT(CELLS, LAYERS, PIXELS, **options).double()
    for seed, parameter in enumerate(model.parameters(), start=3):
        parameter.data = 0.5 * normal(*parameter.shape, seed=seed)
    return model


@pytest.mark.parametrize(("pixels", "atoms"), [(256, 256), (256, 1024), (16, 64)])
def test_the_dct_is_a_tight_frame_of_unit_columns(pixels: int, atoms: int) -> None:
    d = dct(pixels, atoms)
    assert d.shape == (pixels, atoms)
    torch.testing.assert_close(d @ d.mT, atoms / pixels * torch.eye(pixels), rtol=0, atol=1e-5)
    torch.testing.assert_close(torch.linalg.vector_norm(d, dim=0), torch.ones(atoms), rtol=0, atol=1e-6)


def test_the_dct_is_separable_and_starts_with_the_constant() -> None:
    d, side = dct(16, 36), 6
    i, j, k, m = 1, 3, 2, 5  # pixel (i, j), frequencies (k, m)

    def one(place: int, frequency: int) -> float:
        column = np.cos(np.pi * (2 * np.arange(4) + 1) * frequency / (2 * side))
        return column[place] / np.linalg.norm(column)

    assert d[4 * i + j, side * k + m].item() == pytest.approx(one(i, k) * one(j, m), abs=1e-6)
    torch.testing.assert_close(d[:, 0], torch.full((16,), 0.25))


@pytest.mark.parametrize(("pixels", "atoms"), [(15, 64), (16, 60)])
def test_the_dct_needs_square_numbers(pixels: int, atoms: int) -> None:
    with pytest.raises(ValueError, match=f"square numbers, not {pixels} pixels and {atoms} atoms"):
        dct(pixels, atoms)


@pytest.mark.parametrize("exact", [False, True])
def test_attention_weighs_tokens_by_symmetric_kernels(exact: bool) -> None:
    z = signal()
    weights = attention(z, exact)
    assert weights.shape == (CELLS, BATCH, TOKENS, TOKENS)
    for cell, item, i in np.ndindex(CELLS, BATCH, TOKENS):
        own = z[cell, item].numpy()
        kernel = np.exp(-np.square(own[i] - own).sum(1) / 2) if exact else np.exp(own @ own[i])
        np.testing.assert_allclose(weights[cell, item, i], kernel / kernel.sum(), atol=1e-12)


def test_per_cell_gives_each_cell_its_own_matrix() -> None:
    tokens, matrix = signal(), normal(CELLS, PIXELS, 11)
    for cell, item in np.ndindex(CELLS, BATCH):
        torch.testing.assert_close(per_cell(tokens, matrix)[cell, item], tokens[cell, item] @ matrix[cell])


def interaction(z: Tensor) -> Tensor:
    """The pair term of E_1 (45), sum_{i,j} -exp(-|z_i - z_j|^2 / 2)."""
    return -(-torch.cdist(z, z).square() / 2).exp().sum()


def test_exact_attention_is_the_majorisation_step_of_its_energy() -> None:
    z = signal()[0, 0].requires_grad_()
    kernel = (-(z[:, None] - z[None]).square().sum(-1) / 2).exp()
    energy = -kernel.sum()
    (gradient,) = torch.autograd.grad(energy, z)
    step = z - gradient / 2 / kernel.sum(1, keepdim=True)
    torch.testing.assert_close((attention(z[None, None], True) @ z)[0, 0], step, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_exact_attention_lowers_its_energy_by_at_least_the_bound(scale: float) -> None:
    """-exp is concave in |z_i - z_j|^2 and the Gaussian kernel K is positive: the fall is >= tr(G^T D^-1 G)."""
    for seed in range(20):
        z = scale * normal(TOKENS, PIXELS, seed=seed)
        kernel = (-torch.cdist(z, z).square() / 2).exp()
        degree = kernel.sum(1)
        g = degree[:, None] * z - kernel @ z  # (D - K) Z
        after = (attention(z[None, None], True) @ z)[0, 0]
        bound = (g.square() / degree[:, None]).sum()
        assert bound > 0
        assert interaction(z) - interaction(after) >= bound * (1 - 1e-9) - 1e-12


def test_attention_with_unit_weights_can_raise_that_energy_and_the_exact_one_does_not() -> None:
    z = torch.tensor([[0.1], [-0.1], [6.0], [-6.0]], dtype=torch.float64)  # the outer tokens tear the pair apart
    plain, exact = ((attention(z[None, None], beta) @ z)[0, 0] for beta in (False, True))
    assert interaction(plain) > interaction(z) + 1
    assert interaction(exact) < interaction(z) - 1e-3


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("decouple", [True, False])
def test_ut_equals_its_equations_layer_by_layer(residual: bool, exact: bool, decouple: bool) -> None:
    model, y = make(residual=residual, exact_beta=exact, decouple=decouple), signal()
    states = model.states(y)
    assert len(states) == LAYERS + 1 and states[0] is y and model.readout(states[3]) is states[3]
    cell, item = 1, 2
    expected = y[cell, item].numpy()
    for layer in range(LAYERS):
        own = layer if decouple else 0
        wa, wf, b = (p[cell, own].detach().numpy() for p in (model.attention, model.feedforward, model.bias))
        scores = expected @ wa.T @ wa @ expected.T
        if exact:
            scores = scores - np.square(expected @ wa.T).sum(1) / 2
        kernel = np.exp(scores - scores.max(1, keepdims=True))
        half = kernel / kernel.sum(1, keepdims=True) @ expected
        expected = np.maximum((half if residual else 0) + half @ (-(wf + wf.T) / 2) + b, 0)
        np.testing.assert_allclose(states[layer + 1][cell, item].detach(), expected, atol=1e-10)


def test_without_residual_the_feedforward_is_a_projected_gradient_step_on_its_energy() -> None:
    """One token, so that attention is the identity: Y' = [Y - grad E_2(Y)]_+ with E_2 of (46)."""
    model, y = make(residual=False), signal()[:, :, :1].requires_grad_()
    wf, b = model.feedforward[:, 0], model.bias[:, 0, None, None]
    energy = (y * per_cell(y, wf)).sum() / 2 + (y - b).square().sum() / 2
    (gradient,) = torch.autograd.grad(energy, y)
    torch.testing.assert_close(model.states(y)[1], (y - gradient).relu(), rtol=0, atol=1e-12)


def test_xavier_weights_are_a_function_of_the_seed_alone() -> None:
    def weights(*seeds: int, gain: float = 1.0) -> Tensor:
        return UT(len(seeds), LAYERS, 256, gain=gain, seeds=seeds).feedforward.detach()[:, 0]

    three = weights(3, 4, 3)
    assert torch.equal(three[0], three[2]) and torch.equal(three[1:2], weights(4))
    assert (three[0] - three[1]).std() > 0.05
    assert three[0].std().item() == pytest.approx(256**-0.5, rel=0.02)  # sqrt(2 / (in + out))
    torch.testing.assert_close(weights(3, gain=0.5)[0], three[0] / 2)
    assert not weights(3, gain=0.0).any()


def test_ut_starts_from_the_orthonormal_dct() -> None:
    model = UT(CELLS, LAYERS, 16)
    torch.testing.assert_close(model.attention[1, 0], dct(16, 16).mT, rtol=0, atol=0)
    assert not model.bias.any()


@pytest.mark.parametrize(("module", "changes"), [(dust, {}), (ut, {}), (ut, {"models.ut": {"reading": "codes"}})])
def test_a_stack_equals_its_cells_in_forward_and_gradient(module: ModuleType, changes: dict) -> None:
    params = small_params({"models.ut": {"decouple": True}} | changes)
    name = module.__name__.split(".")[-1]
    asked = settings_by_arm(params, name)["constrained"], budget_of(params, name), VideoInputs(4, ""), 3
    seeds = [1, 2]
    stack: nn.Module = module.build(*asked, seeds).double()
    for seed, parameter in enumerate(stack.parameters()):
        parameter.data += 0.2 * normal(*parameter.shape, seed=seed)
    noisy = normal(CELLS, BATCH, TOKENS, 16)

    def loss(model: nn.Module, y: Tensor) -> Tensor:
        return sum((model.readout(x) ** 2).sum() for x in model.states(y))

    loss(stack, noisy).backward()
    for index, seed in enumerate(seeds):
        single = module.build(*asked, [seed]).double()
        single.load_state_dict({key: value[index : index + 1] for key, value in stack.state_dict().items()})
        for one, several in zip(single.states(noisy[index : index + 1]), stack.states(noisy), strict=True):
            torch.testing.assert_close(single.readout(one)[0], stack.readout(several)[index])
        loss(single, noisy[index : index + 1]).backward()
        for one, several in zip(single.parameters(), stack.parameters(), strict=True):
            assert one.grad.abs().max() > 0.01
            torch.testing.assert_close(one.grad[0], several.grad[index])


def test_the_reference_maps_are_the_input_and_black() -> None:
    for name, expected in (("identity", signal()), ("zero", torch.zeros_like(signal()))):
        reference = Map(Pixels(), UNTOLD[name])
        (state,) = reference.states(signal())
        assert torch.equal(reference.readout(state), expected)


def test_pictures_are_answers_in_gray_patches_as_squares_and_frames_as_they_are() -> None:
    patches = torch.linspace(-0.5, 1.5, 2 * 3 * 5 * 16).view(2, 3, 5, 16)
    found = Pixels().pictures(patches)
    assert found.shape == (2, 15, 4, 4)
    torch.testing.assert_close(found[1, 7], patches[1, 1, 2].view(4, 4).clamp(0, 1))
    frames = torch.linspace(-0.5, 1.5, 2 * 3 * 8 * 8).view(2, 3, 8, 8)
    torch.testing.assert_close(Pixels().pictures(frames), frames.clamp(0, 1))
