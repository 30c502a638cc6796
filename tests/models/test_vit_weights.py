"""Where ViT's weights come from, and what is told where they cannot be had."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import ViTConfig, ViTModel

from descent.errors import UserError
from descent.models.parts.patches import unfolding
from descent.tasks.common.items import budget_of
from tests.fakes.core import enter_project, item_of
from tests.fakes.vit import BUDGET, IMAGE, LAYERS, build, library, pretrained, vit_params

SECTION = "the profile's models.vit"


@pytest.mark.parametrize("classifier", [False, True])
def test_a_local_folder_gives_its_own_weights(tmp_path: Path, classifier: bool) -> None:
    body = library(classifier)
    body.save_pretrained(tmp_path / "weights")
    model = build(pretrained(tmp_path / "weights") | {f"{BUDGET}.dropout": 0.3})
    theirs = dict(body.base_model.named_parameters())
    found = {name.replace("/", "."): value[0] for name, value in model.named_parameters()}
    assert found.keys() == {name for name in theirs if not name.startswith("layernorm")}
    assert all(torch.equal(found[name], theirs[name]) for name in found)
    assert {part.p for part in model._body[0].modules() if isinstance(part, nn.Dropout)} == {0.3}
    assert model.target(torch.zeros(1, 2, 8, 8)).shape[-1] == IMAGE, "the image's size is the folder's"


def test_a_folder_shown_smaller_images_answers_as_the_library_with_interpolated_positions(tmp_path: Path) -> None:
    body, side = library(), 2 * IMAGE // 3
    body.save_pretrained(tmp_path / "weights")
    changes = pretrained(tmp_path / "weights")
    changes[f"{BUDGET}.weights"]["image"] = side
    model = build(changes)
    noisy = torch.rand(1, 3, 8, 8)
    assert model.target(noisy).shape[-1] == side
    theirs = body(
        pixel_values=model.target(noisy)[0], interpolate_pos_encoding=True, output_hidden_states=True
    ).hidden_states
    for ours, their in zip(model.states(noisy), theirs, strict=True):
        torch.testing.assert_close(ours[0], their[:, 1:])
    assert model.readout(model.states(noisy)[-1]).shape[-2:] == (side, side)
    changes[f"{BUDGET}.weights"]["image"] = side + 1
    assert "make weights.image a multiple" in refused(changes)


def test_random_weights_have_their_image_in_one_place() -> None:
    with pytest.raises(UserError, match="drop image"):
        budget_of(vit_params({f"{BUDGET}.weights": {"image": IMAGE}}), "vit")


def test_a_cell_is_named_by_the_content_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_project(tmp_path / "project", monkeypatch)
    library().save_pretrained(tmp_path / "weights")
    params = vit_params(pretrained(tmp_path / "weights"))

    def definition() -> dict:
        item = item_of(params, "video", "ucsd", "vit")
        return item.feed.definition(item.cells[0])

    before = definition()
    assert definition() == before and [len(files) for files in before["files"]] == [2]
    library(initializer_range=0.5).save_pretrained(tmp_path / "weights")
    assert definition() != before


def refused(changes: dict) -> str:
    with pytest.raises(UserError) as error:
        build(changes)
    message = str(error.value)
    assert "\n" not in message and "Traceback" not in message
    return message


def test_a_wrong_source_of_weights_is_told(tmp_path: Path) -> None:
    for folder, body in {
        "deep": library(num_hidden_layers=LAYERS + 1),
        "ragged": library(image_size=7),
        "oblong": library(image_size=[6, 8]),
        "gray": library(num_channels=1),
        "damaged": library(),
    }.items():
        body.save_pretrained(tmp_path / folder)
    (tmp_path / "damaged" / "model.safetensors").write_bytes(b"damaged")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text('{"model_type": "deit", "num_hidden_layers": 3}')
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    folder = "cannot be loaded: it should be a folder with config.json and model.safetensors"
    for name, words in {
        "deep": [f"has {LAYERS + 1} layers, {SECTION}.layers says {LAYERS}"],
        "other": ["is a 'deit', not a 'vit'", f"{SECTION}.weights"],
        "ragged": ["reads images of 7 in patches of 2", "a multiple of the patch"],
        "oblong": ["in patches of 2 pixels: both should be squares"],
        "gray": ["of 1 channels, not of 3"],
        "damaged": [folder],
        "broken": [folder],
        "absent": ["there is no folder"],
    }.items():
        message = refused(pretrained(tmp_path / name))
        assert str(tmp_path / name) in message and all(word in message for word in words), message


def test_missing_weights_are_not_filled_with_random_ones(tmp_path: Path) -> None:
    library().save_pretrained(tmp_path)
    file, positions = tmp_path / "model.safetensors", "embeddings.position_embeddings"
    weights = load_file(file)
    save_file({name: value for name, value in weights.items() if name != positions}, file)
    assert f"has no weights for {positions}" in refused(pretrained(tmp_path))
    save_file(weights | {positions: weights[positions][:, :-1].clone()}, file)
    assert str(tmp_path) in refused(pretrained(tmp_path)), "positions for another number of patches"


def test_a_hub_that_does_not_answer_is_told_with_the_way_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = refused(pretrained("nobody-here/no-such-model"))
    assert "the model 'nobody-here/no-such-model' cannot be loaded from the Hugging Face hub" in message
    assert "local_data" in message and "`path` in place of `hub`" in message


def test_the_sizes_of_random_weights_are_checked_where_they_are_written() -> None:
    for size, told in (
        ({"image": 7}, "image 7 is not a multiple of patch 2"),
        ({"heads": 5}, "multiple of heads 5"),
    ):
        weights = {"random": {"image": 6, "patch": 2, "width": 12, "heads": 2, "feedforward": 10} | size}
        with pytest.raises(UserError, match=told):
            budget_of(vit_params({f"{BUDGET}.weights": weights}), "vit")
    with pytest.raises(UserError, match="name exactly one of path, hub, random"):
        budget_of(vit_params({f"{BUDGET}.weights": {"path": "somewhere"}}), "vit")


def test_the_papers_model_reads_its_tokens_as_patches() -> None:
    config = ViTConfig()
    assert config.hidden_size == 3 * config.patch_size**2 and unfolding(768, 16) is None
    assert isinstance(ViTModel(ViTConfig(num_hidden_layers=1, hidden_size=12, num_attention_heads=2)), nn.Module)
