"""The arrays of pictures: frames put together again, the model's own attention, the atoms that moved."""

from pathlib import Path

import numpy as np
import pytest
import torch
from skimage.metrics import peak_signal_noise_ratio

from descent.models.dust import DUST
from descent.models.parts.denoiser import Pixels
from descent.models.parts.layers import dct
from descent.paths import looks_folder, runs_folder
from descent.tasks.common.looks import Attention, shown, weights_of_layers
from descent.tasks.video import look
from descent.tasks.video.data import Sequences, load
from descent.tasks.video.references import Map, identity
from tests.fakes.core import enter_project, evaluate_cells, item_of, seal, serially, small_params, train_cells
from tests.fakes.video import noise
from tests.fakes.vit import BUDGET, vit_params

TOKENS, TOKEN, SIZE, PATCH = 3, 1, 12, 4
FRAMES = noise(TOKENS, seed=3, height=SIZE, width=SIZE)
ITEM = ("video", "ucsd", "dust")


def scene() -> look.Scene:
    sequences = Sequences(FRAMES, np.zeros(1, int), np.zeros(1, int), TOKENS, PATCH, None)
    clean = sequences.gather(np.arange(sequences.places))[None].float() / 255
    return look.Scene(clean, TOKENS, TOKEN)


def model(layers: int = 2, shared: bool = False) -> DUST:
    return DUST(1, layers, dct(PATCH**2, PATCH**2), shared, torch.relu, step_scale=1.5)


def test_the_patches_of_a_scene_are_its_frame() -> None:
    own, frame = scene(), torch.from_numpy(FRAMES[TOKEN]) / 255
    torch.testing.assert_close(own.frame(Pixels().pictures(own.clean)[0]), frame)
    torch.testing.assert_close(own.pixels(3 * own.clean)[0, 0], 3 * frame)  # not clipped
    whole = look.Scene(frame[None, None], 1, 0)
    torch.testing.assert_close(whole.frame(Pixels().pictures(whole.clean)[0]), frame)


@pytest.mark.parametrize("tokens", [TOKENS, 10])
def test_of_a_model_that_sees_frames_the_middle_one_is_shown_however_long_a_sequence_is(
    tokens: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = enter_project(tmp_path / "project", monkeypatch)
    params = vit_params({f"{BUDGET}.tokens": tokens})
    found = look._scene(params, prepared, item_of(params, "video", "ucsd", "vit"))
    frames = np.load(prepared.folder / "test.npy")
    np.testing.assert_array_equal(255 * found.clean[0, 0], frames[len(frames) // 2])
    assert (found.tokens, found.token) == (1, 0)


def test_a_strip_holds_the_answers_and_scikit_images_psnr() -> None:
    own = scene()
    noisy = own.clean + 0.2 * torch.randn(own.clean.shape, generator=torch.Generator().manual_seed(0))
    found = look._strips([Map(Pixels(), identity)], own, [noisy], [0.2])
    frame, clean = own.pixels(noisy)[0, 0].clamp(0, 1).numpy(), FRAMES[TOKEN] / 255
    np.testing.assert_array_equal(found["clean"], FRAMES[TOKEN])
    np.testing.assert_array_equal(found["pictures"][0, 0], np.round(255 * frame))
    assert found["psnr"].item() == pytest.approx(peak_signal_noise_ratio(clean, frame, data_range=1), rel=1e-5)


def test_attention_is_what_the_layers_weigh_with() -> None:
    own, net = scene(), model(shared=True)
    own.clean[0, 5] = torch.rand(TOKENS, PATCH**2, generator=torch.Generator().manual_seed(1)) * 2  # changes most
    with torch.no_grad():
        found = look._attention(net, own, own.clean, layers=2)
        states = net.states(own.clean[:, 5:6])
    for layer in range(2):
        keys = states[layer].estimate[0, 0].numpy()
        weights = np.exp(keys @ keys.T)
        expected = weights / weights.sum(1, keepdims=True)
        np.testing.assert_allclose(found["attention"][layer], expected, rtol=1e-5)
    assert found["sequence"].shape == (TOKENS, PATCH, PATCH)
    assert look._attention(net, own._replace(tokens=1), own.clean, layers=2) == {}, "a frame has no time"


def test_attention_of_another_shape_is_not_told() -> None:
    with Attention() as seen:
        torch.zeros(1, 1, 2, 2).softmax(-1)
        torch.nn.functional.softmax(torch.zeros(1, 3), dim=-1)
    assert len(seen.weights) == 2
    assert len(weights_of_layers(seen.weights, layers=1, tokens=2)) == 1
    assert weights_of_layers(seen.weights, layers=2, tokens=2) == []
    torch.zeros(2).softmax(-1)
    assert len(seen.weights) == 2, "outside of it nothing is kept"


@pytest.mark.parametrize(("shared", "count"), [(False, 2), (True, 1)])
def test_the_atoms_that_moved_most_come_first(shared: bool, count: int) -> None:
    before, after = model(shared=shared), model(shared=shared)
    with torch.no_grad():
        after.dictionaries[0, -1, :, 6] += 0.5
        after.dictionaries[0, -1, :, 2] -= 0.25
        found = look._atoms(before, after)
    start = before.dictionaries[0, -1].detach()
    assert found["atoms"].shape == (count, 2, min(look.ATOMS, PATCH**2), PATCH, PATCH)
    for place, (atom, change) in enumerate([(6, 0.5), (2, -0.25)]):
        patch = start[:, atom].view(PATCH, PATCH)
        np.testing.assert_allclose(found["atoms"][-1, :, place], torch.stack([patch, patch + change]), atol=1e-6)
    norm = float(torch.linalg.vector_norm(start))
    assert found["moved"][-1] == pytest.approx(np.hypot(4 * 0.5, 4 * 0.25) / norm, rel=1e-5)
    assert look._atoms(Pixels(), Pixels()) == {}


def test_evaluation_keeps_the_deepest_headline_cell_of_every_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serially(monkeypatch)
    prepared = enter_project(tmp_path / "project", monkeypatch)
    params = small_params(
        {"video.models": ["dust"], "profiles.demo.video.epochs": 2, "profiles.demo.video.eps": []}
    )
    train_cells(params, *ITEM)
    evaluate_cells(params, *ITEM[:2])
    folder = looks_folder(*ITEM[:2]) / "dust"
    assert {path.stem for path in folder.iterdir()} == {"identity", "tv_chambolle", "nl_means", *params.arms}
    item = item_of(params, *ITEM)
    assert [(cell.arm, cell.layers, cell.eps) for cell in shown(params, item)] == [
        (arm, 3, params.eps) for arm in params.arms
    ]
    noisy = np.load(folder / "identity.npz")
    for arm in params.arms:
        own = np.load(folder / f"{arm}.npz")
        assert own["gammas"].tolist() == [params.eps, 1.0] and own["pictures"].shape == (2, 4, 8, 8)
        np.testing.assert_array_equal(own["clean"], noisy["clean"])
        assert own["attention"].shape[0] == 3 and len(own["atoms"]) == (2 if arm == "constrained" else 1)
    record = runs_folder(*ITEM[:2]) / "dust"
    seal(next(record.glob("constrained-L3*")), diverged=True)
    (tmp_path / "again").mkdir()
    look.write(params, load(prepared.folder), item, tmp_path / "again")
    assert not (tmp_path / "again/constrained.npz").exists() and (tmp_path / "again/unconstrained.npz").exists()
