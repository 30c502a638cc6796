"""Where the weights of encoders, and the word embeddings of UT, come from, and what is told without them."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
)

from descent.errors import UserError
from descent.tasks.text.data import Tokens
from tests.fakes.encoders import ENCODERS, WIDTH, library, weights_of
from tests.fakes.text import (
    BUDGET,
    LONGEST,
    PAD,
    RATES,
    VOCABULARY,
    built,
    cells,
    fed,
    inputs,
    logits,
    write_tokens,
)

FOLDER = "cannot be loaded: it should be a folder with config.json and model.safetensors"
BROKEN = {
    "no JSON": "{",
    "a number": "3",
    "a list": "[]",
    "of no kind": "{}",
    "of an unknown kind": '{"model_type": "no such thing"}',
    "of a wrong type": '{"model_type": "distilbert", "dim": "wide"}',
    "of an unknown type": '{"model_type": "distilbert", "torch_dtype": "wide"}',
}


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


def source(model: str, place: Path | str) -> dict[str, dict[str, object]]:
    """What the budget of a model says of weights from a folder or the hub."""
    where = {"hub": {"id": place}} if isinstance(place, str) else {"path": str(place)}
    return {"embeddings": {"width": None} | where} if model == "ut_text" else {"weights": {"random": None} | where}


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_local_folder_gives_its_own_weights(tokens: Tokens, tmp_path: Path, name: str, masked: bool) -> None:
    body, place = library(name, masked), tmp_path / "weights"
    body.save_pretrained(place)
    model = built(tokens, name, **source(name, place), dropout=0.3)
    theirs = dict(body.base_model.named_parameters())
    found = weights_of(model)
    assert found.keys() == {key for key in theirs if "pooler" not in key}
    assert all(torch.equal(found[key], theirs[key]) for key in found)
    rates = {m.p for m in model._body[0].modules() if isinstance(m, nn.Dropout)}
    assert rates == {0.3}


@pytest.mark.parametrize("name", ENCODERS)
def test_ut_takes_an_encoders_word_embeddings(tokens: Tokens, tmp_path: Path, name: str) -> None:
    body, place, (ids, mask) = library(name, True), tmp_path / "weights", inputs(tokens)
    body.save_pretrained(place)
    table = body.base_model.get_input_embeddings().weight.detach()
    budget = {f"{BUDGET}.models.ut_text.{key}": value for key, value in source("ut_text", place).items()}
    for kind in ("frozen", "trained"):
        made = fed(tokens, "ut_text", budget | {"models.ut_text.embeddings": kind})
        model = made.build(cells("ut_text", (0, 1)))
        assert made.elements == RATES["batch"] * LONGEST * WIDTH, "counted before anything is loaded"
        assert model.table.shape[0] == (1 if kind == "frozen" else 2)
        assert all(torch.equal(own, table) for own in model.table)
        names = {key for key, _ in model.named_parameters()}
        assert names == set(model.state_dict()) and ("table" in names) == (kind == "trained")
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        logits(model, ids, mask).square().sum().backward()
        optimizer.step()
        moved = (model.table - table).abs().amax((1, 2))
        assert (moved > 1e-3).all() if kind == "trained" else not moved.any()


def refused(tokens: Tokens, name: str, place: Path | str) -> str:
    with pytest.raises(UserError) as error:
        built(tokens, name, **source(name, place))
    message = str(error.value)
    assert "\n" not in message and "Traceback" not in message
    return message


def test_a_wrong_source_of_weights_is_told(tokens: Tokens, tmp_path: Path) -> None:
    for folder, body in {
        "right": library("distilbert"),
        "roberta": library("roberta"),
        "deep": library("distilbert", n_layers=3),
        "words": library("distilbert", vocab_size=VOCABULARY + 1),
        "short": library("distilbert", max_position_embeddings=3),
        "pad": library("distilbert", pad_token_id=3),
    }.items():
        body.save_pretrained(tmp_path / folder)
    (tmp_path / "empty").mkdir()
    for folder, config in BROKEN.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(config)
    told = {
        "roberta": ["is a 'roberta', not a 'distilbert'", "the profile's models.distilbert.weights"],
        "deep": ["has 3 layers", "the profile's models.distilbert.layers says 2"],
        "words": [f"has {VOCABULARY} tokens and pads with {PAD}", f"knows {VOCABULARY + 1} and", "tokenizers"],
        "pad": [f"knows {VOCABULARY} and pads with 3"],
        "short": ["reads at most 3 tokens", "text.max_tokens", "lower it in params.yaml"],
    }
    told |= {folder: [FOLDER] for folder in ("empty", *BROKEN)} | {"absent": ["there is no folder"]}
    for folder, words in told.items():
        message = refused(tokens, "distilbert", tmp_path / folder)
        assert str(tmp_path / folder) in message and all(word in message for word in words), message
    weights = tmp_path / "right" / "model.safetensors"
    for damage in (lambda: weights.write_bytes(weights.read_bytes()[:200]), weights.unlink):
        damage()
        assert FOLDER in refused(tokens, "distilbert", tmp_path / "right")


def test_a_folder_of_other_weights_is_refused_rather_than_filled_with_random_ones(
    tokens: Tokens, tmp_path: Path
) -> None:
    library("distilbert").save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    save_file({key.replace("layer.1", "layers.1"): value for key, value in load_file(file).items()}, file)
    assert str(tmp_path) in refused(tokens, "distilbert", tmp_path)


def test_ut_refuses_embeddings_of_unknown_models_and_other_vocabularies(tokens: Tokens, tmp_path: Path) -> None:
    BertModel(
        BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=WIDTH,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=12,
        )
    ).save_pretrained(tmp_path / "bert")
    library("roberta", vocab_size=99).save_pretrained(tmp_path / "words")
    for folder, words in {
        "bert": "is a 'bert'; UT reads the word embeddings of distilbert, roberta",
        "words": "knows 99",
    }.items():
        assert words in refused(tokens, "ut_text", tmp_path / folder)


def test_a_hub_that_does_not_answer_is_told_with_the_way_around_it(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    nowhere = "nobody-here/no-such-model"
    for name in ("distilbert", "roberta", "ut_text"):
        message = refused(tokens, name, nowhere)
        assert f"the model {nowhere!r} cannot be loaded from the Hugging Face hub" in message
        assert "local_data" in message and "`path` in place of `hub`" in message
