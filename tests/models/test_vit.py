"""ViT against the library called directly: what it is shown, its states, and the images read from them."""

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor
from torch.nn.functional import conv2d

from descent.models import vit
from descent.models.parts.inputs import VideoInputs
from descent.models.parts.patches import Fold, fold, unfolding
from descent.primal_dual.constraints import violations
from descent.primal_dual.lagrangian import lagrangian
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.video.data import Prepared
from descent.tasks.video.losses import denoising_losses
from tests.fakes.core import small_problem, write_prepared
from tests.fakes.text import normal, shaken
from tests.fakes.vit import BUDGET, IMAGE, LAYERS, PATCH, SIZE, WIDTH, build, library, vit_params


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return write_prepared(tmp_path_factory.mktemp("data") / "ucsd")


def model_of(**size: int) -> vit.ViT:
    return shaken(build({f"{BUDGET}.weights": {"random": SIZE | size}}))


def textured(count: int, size: int = 160) -> np.ndarray:
    """Gray frames of smooth blobs, sharp edges and some grain."""
    rng, (y, x) = np.random.default_rng(0), np.mgrid[:size, :size] / size
    waves = [np.sin(7 * x + a) + np.cos(11 * y * x + b) + 2 * (x > y) for a, b in rng.random((count, 2))]
    return np.clip(128 + 40 * np.stack(waves) + 8 * rng.standard_normal((count, size, size)), 0, 255).astype(
        np.uint8
    )


@pytest.mark.parametrize("image", [224, 160, 64, 32])
def test_clean_frames_are_shown_as_the_librarys_own_processor_shows_them(image: int) -> None:
    frames = textured(3)
    size = {"height": image, "width": image}
    normal_ = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    processor = transformers.ViTImageProcessorPil(size=size, **normal_)
    color = [np.repeat(frame[..., None], 3, axis=-1) for frame in frames]
    theirs = processor(color, return_tensors="pt")["pixel_values"]
    ours = model_of(image=image, patch=16).target(torch.from_numpy(frames)[None].float() / 255)
    assert ours.shape == (1, 3, 3, image, image)
    gap = (ours[0] - theirs).abs() * 127.5
    # The library rounds to whole gray levels after each of its two passes, across and down.
    assert gap.max() <= 1.01 and gap.mean() < 0.4


def test_where_a_frame_shrinks_antialiasing_averages_and_can_be_left_out() -> None:
    noise = torch.from_numpy(np.random.default_rng(0).random((1, 8, 160, 160), dtype=np.float32))
    fine, plain = model_of(image=32, patch=16), model_of(image=32, patch=16)
    plain.processor.antialias = False
    assert fine.target(noise).std() < 0.5 * plain.target(noise).std()


def weights_of(model: vit.ViT) -> dict[str, Tensor]:
    return {name.replace("/", "."): value[0].detach() for name, value in model.named_parameters()}


@pytest.mark.parametrize("width", [WIDTH, 8])
def test_the_states_are_the_librarys_hidden_states(width: int) -> None:
    model, body, frames = model_of(width=width), library(hidden_size=width), normal(1, 4, 8, 8)
    unknown = body.load_state_dict(weights_of(model), strict=False)
    assert not unknown.unexpected_keys and set(unknown.missing_keys) == {"layernorm.weight", "layernorm.bias"}
    with torch.no_grad():
        theirs = body(pixel_values=model.target(frames)[0], output_hidden_states=True).hidden_states
        ours = model.states(frames)
    assert len(ours) == len(theirs) == LAYERS + 1
    for own, state in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own[0], state[:, 1:], rtol=0, atol=1e-6)
    assert (ours[1] - ours[2]).abs().max() > 1e-2


def test_an_image_folds_from_the_patches_that_a_patch_embedding_sees() -> None:
    images = normal(2, 3, IMAGE, IMAGE)
    kernel = torch.eye(WIDTH).view(WIDTH, 3, PATCH, PATCH)  # number k of a patch, in the order of the weights
    tokens = conv2d(images, kernel, stride=PATCH).flatten(2).mT
    assert tokens.shape == (2, (IMAGE // PATCH) ** 2, WIDTH)
    assert torch.equal(fold(tokens, PATCH), images)
    assert torch.equal(Fold(WIDTH, PATCH)(tokens[None])[0], images), "as many numbers as a patch: directly"


@pytest.mark.parametrize(("width", "patch"), [(192, 16), (700, 16), (5, 2), (1024, 16)])
def test_another_width_unfolds_orthonormally(width: int, patch: int) -> None:
    rows, numbers = unfolding(width, patch), 3 * patch**2
    assert rows.shape == (width, numbers)
    product = rows @ rows.mT if width < numbers else rows.mT @ rows
    torch.testing.assert_close(product, torch.eye(min(width, numbers)), rtol=0, atol=1e-5)


def test_a_narrow_token_holds_what_a_gray_patch_is_made_of() -> None:
    y, x = np.mgrid[:16, :16] / 16
    smooth = torch.from_numpy(np.sin(3 * x + 1) + np.cos(4 * y)).float().flatten().repeat(3)
    rows = unfolding(192, 16)
    kept = (rows @ smooth).square().sum() / smooth.square().sum()
    assert kept > 0.9999, "gray waves come first"
    assert (rows[0] - rows[0].mean()).abs().max() < 1e-6, "the slowest is one gray"
    colored = torch.cat([torch.ones(256), -torch.ones(256), torch.zeros(256)])
    assert (rows @ colored).abs().max() < 1e-4


def test_the_loss_is_the_mean_over_all_entries_of_the_shown_image(prepared: Prepared) -> None:
    model, clean = model_of(), torch.from_numpy(textured(4, 8))[None].float() / 255
    noisy = clean + 0.3 * normal(*clean.shape)
    f = denoising_losses(model, noisy, clean, "mean")
    images = [model.readout(state) for state in model.states(noisy)]
    expected = [np.square((image - model.target(clean)).detach().numpy()).mean() for image in images]
    np.testing.assert_allclose(f[0].detach(), expected, rtol=1e-5)


def test_every_parameter_learns_from_the_losses_of_all_layers() -> None:
    model, clean = model_of(), torch.from_numpy(textured(4, 8))[None].float() / 255
    f = denoising_losses(model, clean, clean, "mean")
    problem = small_problem()
    lagrangian(f, violations(f, problem), torch.full((1, LAYERS + 1), 0.7), problem).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.shape[0] == 1 and parameter.grad is not None, name
        if "k_proj/bias" not in name and "key/bias" not in name:  # softmax does not see a shift of all keys
            assert parameter.grad.abs().max() > 1e-7, name


def test_weights_depend_on_the_seed_alone() -> None:
    def built(seed: int, world: int) -> dict[str, Tensor]:
        torch.random.manual_seed(world)
        before = torch.random.get_rng_state()
        state = build(seed=seed).state_dict()
        assert torch.equal(before, torch.random.get_rng_state()), "nothing is drawn from the global stream"
        return state

    first, again, other = built(0, 1), built(0, 2), built(1, 1)
    assert first.keys() == other.keys() and all(torch.equal(first[key], again[key]) for key in first)
    drawn = {key for key in first if not torch.equal(first[key], other[key])}
    assert drawn and all("bias" in key or "layernorm" in key for key in first.keys() - drawn)


def test_its_answers_are_pictures_in_gray_and_its_space_is_that_of_its_processor() -> None:
    model, frames = model_of(), torch.from_numpy(textured(4, 8))[None].float() / 255
    params = vit_params({f"{BUDGET}.weights": {"random": SIZE}})
    asked = settings_by_arm(params, "vit")["constrained"], budget_of(params, "vit"), VideoInputs(PATCH, "")
    space = vit.space(*asked)
    target = model.target(frames)
    assert torch.equal(space.target(frames), target) and space.legal == model.legal == (-1.0, 1.0)
    pictures = model.pictures(target)
    assert pictures.shape == (1, 4, IMAGE, IMAGE) and torch.equal(space.pictures(target), pictures)
    torch.testing.assert_close(pictures, (target[:, :, 0] + 1) / 2)
    colors = torch.tensor([-3.0, 0.0, 1.0]).view(1, 1, 3, 1, 1).expand(1, 2, 3, IMAGE, IMAGE)
    torch.testing.assert_close(model.pictures(colors), torch.full((1, 2, IMAGE, IMAGE), 0.5)), "black, gray, white"
