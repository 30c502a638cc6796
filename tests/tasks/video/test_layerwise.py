"""The quality of every layer's answer, against scikit-image on single pictures."""

import numpy as np
import pytest
import torch
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from torch import Tensor

from descent.models.dust import DUST
from descent.models.parts.denoiser import Denoiser
from descent.models.parts.layers import dct
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.data import Frames
from descent.tasks.video.layerwise import METRICS, further, further_rows, qualities, rows, steps, told
from tests.fakes.core import small_params
from tests.fakes.video import SSIM, noise

CPU, SIZE, LEVELS, SIGMA = torch.device("cpu"), 24, (0.2, 0.6), 0.5
EVALUATION = small_params().video.evaluation.model_copy(update={"batch": 3})


class Halving(Denoiser):
    """Layer 0 answers the noisy input, each next one has half its error, the last one none."""

    def __init__(self, clean: Tensor) -> None:
        super().__init__()
        self.clean = clean

    def states(self, noisy: Tensor) -> list[Tensor]:
        self.noisy = noisy
        return [self.clean + share * (noisy - self.clean) for share in (1, 0.5, 0)]

    def readout(self, state: Tensor) -> Tensor:
        return state


@pytest.fixture(scope="module")
def measured() -> tuple[Halving, np.ndarray]:
    frames, used = noise(9, seed=0, height=SIZE, width=SIZE), [0, 4, 8]
    model = Halving(torch.from_numpy(frames[used])[None].float() / 255)
    inputs = Frames(frames, np.zeros(9, int), np.arange(9), None)

    def apply(clean: Tensor, level: Tensor, stream: object, sigma: float) -> Tensor:
        return clean + sigma * level[:, None, None, None] * stream.normal(1, *clean.shape[1:])

    lines = [*told(model, inputs, LEVELS, apply, SIGMA, Sweeping(EVALUATION, CPU))]
    found = qualities(model, model.clean, model.noisy)
    assert lines == [[*rows(found[:, cell], level)] for cell, level in enumerate(LEVELS)], "nothing is run on"
    return model, found


def test_they_are_scikit_images_on_one_batch_spread_over_the_inputs(measured: tuple) -> None:
    model, found = measured
    assert found.shape == (len(METRICS), len(LEVELS), 3)
    clean = model.clean[0].numpy()
    for cell in range(len(LEVELS)):
        for layer, answers in enumerate(model.states(model.noisy)[:2]):
            answer = answers[cell].numpy()
            clipped = answer.clip(0, 1)
            alike = [structural_similarity(*pair, **SSIM) for pair in zip(clean, clipped, strict=True)]
            expected = [255 * np.sqrt(((answer - clean) ** 2).mean())]
            expected += [peak_signal_noise_ratio(clean, clipped, data_range=1), np.mean(alike)]
            np.testing.assert_allclose(found[:, cell, layer], expected, rtol=1e-4)


def test_the_input_itself_scores_its_noise_and_half_the_error_half_of_that(measured: tuple) -> None:
    _, found = measured
    rmse = found[METRICS.index("rmse_layer")]
    noisy = [255 * SIGMA * level for level in LEVELS]
    np.testing.assert_allclose(rmse[:, 0], noisy, rtol=0.05)
    np.testing.assert_allclose(rmse[:, 1] / rmse[:, 0], 0.5, rtol=1e-5)
    np.testing.assert_allclose(rmse[0, 0] / rmse[1, 0], LEVELS[0] / LEVELS[1], rtol=1e-5)  # the same unit noise


def test_an_answer_without_error_has_no_psnr(measured: tuple) -> None:
    _, found = measured
    own = list(rows(found[:, 0], LEVELS[0]))
    assert {(row["metric"], row["layer"]) for row in own} == {
        (metric, layer) for metric in METRICS for layer in range(3)
    } - {("psnr_layer", 2)}
    assert all(row["gamma"] == LEVELS[0] and row["split"] == "test" for row in own)


def test_patches_below_the_window_have_no_ssim() -> None:
    frames = noise(3, seed=1, height=6, width=6)
    model = Halving(torch.from_numpy(frames)[None].float() / 255)
    found = qualities(model, model.clean, model.clean + 0.1)
    assert {row["metric"] for row in rows(found[:, 0], 0.0)} == {"rmse_layer", "psnr_layer"}


def test_how_long_steps_are_is_told_of_models_whose_layers_are_steps(measured: tuple) -> None:
    assert [*steps(measured[0], 0, 0.13)] == []
    net = DUST(2, 3, dct(16, 16), shared=False, shrink=torch.relu, step_scale=1.5)
    net.dictionaries.data[1, 2] *= 2
    found = [(row["layer"], round(row["value"], 4)) for row in steps(net, 1, 0.13)]
    assert found == [(1, 0.6667), (2, 0.6667), (3, 2.6667)]


def test_a_map_is_run_on_for_as_many_layers_as_it_has_and_is_the_deeper_model_there() -> None:
    """The same weights in twice the layers say the same; afterwards the model has its own depth again."""
    clean = torch.from_numpy(noise(2, seed=4, height=4, width=4)).float().flatten(1)[None, None] / 255
    noisy = (clean + 0.1).expand(2, -1, -1, -1)
    net, deep, own = (
        DUST(2, layers, dct(16, 16), shared=shared, shrink=torch.relu, step_scale=1.5)
        for layers, shared in ((3, True), (6, True), (3, False))
    )
    for other in (net, deep):
        other.dictionaries.data[1] *= 1.2
    found = further(net, clean, noisy)
    with torch.no_grad():
        expected = [
            255 * (net.readout(state) - clean).square().mean((1, 2, 3)).sqrt() for state in deep.states(noisy)
        ]
    np.testing.assert_allclose(found, torch.stack(expected[3:], 1), rtol=1e-5)
    assert found.shape == (2, 4) and net.layers == 3 and len(net.states(noisy)) == 4
    assert further(own, clean, noisy).shape == (2, 0), "each layer has a dictionary of its own"
    lines = [*further_rows(found[1], 0.13)]
    assert [line["layer"] for line in lines] == [3, 4, 5, 6] and lines[0]["value"] == found[1, 0]
    assert [*further_rows(np.array([1.0, np.inf]), 0.13)] == [lines[0] | {"layer": 1, "value": 1.0}]
