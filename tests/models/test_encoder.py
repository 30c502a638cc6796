"""DistilBERT and RoBERTa against the library called directly, and where their weights come from."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
)

from descent.errors import UserError
from descent.models import ut_text
from descent.models.parts import encoder
from descent.models.parts.text import Embedded
from descent.primal_dual.constraints import violations
from descent.primal_dual.lagrangian import lagrangian
from descent.tasks.text.batches import Batch, Classification
from descent.tasks.text.data import Tokens
from descent.training.losses import text_losses
from tests.fakes.core import small_problem
from tests.fakes.text import (
    CPU,
    LAYERS,
    LONGEST,
    PAD,
    VOCABULARY,
    cells,
    inputs,
    logits,
    normal,
    shaken,
    text_params,
    write_tokens,
)

ENCODERS = ("distilbert", "roberta")
BUDGET = "profiles.demo.text"
WIDTH = 8


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


def library(model: str, masked: bool = False, **changes: object) -> PreTrainedModel:
    """The library's own model of a tiny size with random weights, with or without its masked-LM head."""
    common = {"vocab_size": VOCABULARY, "pad_token_id": PAD} | changes
    if model == "distilbert":
        sizes = {"n_layers": LAYERS, "max_position_embeddings": LONGEST}
        config = DistilBertConfig(dim=WIDTH, n_heads=2, hidden_dim=12, **sizes | common)
        kind = DistilBertForMaskedLM if masked else DistilBertModel
    else:
        sizes = {"num_hidden_layers": LAYERS, "max_position_embeddings": LONGEST + 1, "type_vocab_size": 1}
        sizes |= {"hidden_size": WIDTH, "num_attention_heads": 2, "intermediate_size": 12}
        config = RobertaConfig(**sizes | common)
        kind = RobertaForMaskedLM if masked else RobertaModel
    body = kind(config).eval()
    for seed, parameter in enumerate(body.parameters()):
        parameter.data += 0.1 * normal(*parameter.shape, seed=seed)
    return body


def weights_of(model: encoder.Encoder) -> dict[str, Tensor]:
    return {name.replace("/", "."): p[0].detach() for name, p in model.named_parameters() if "head." not in name}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_the_librarys_own_called_directly(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(encoder.build(text_params(), tokens, cells(name))), inputs(tokens)
    body = library(name)
    unknown = body.load_state_dict(weights_of(model), strict=False)
    assert not unknown.unexpected_keys and all("pooler" in key for key in unknown.missing_keys)
    with torch.no_grad():
        states = body(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        found = model.states(Embedded(model.embed(ids), mask))
        assert len(states) == len(found) == LAYERS + 1
        for one, theirs in zip(found, states, strict=True):
            torch.testing.assert_close(one[0], theirs[:, 0], rtol=0, atol=1e-6)
        assert (found[1] - found[2]).abs().max() > 1e-2
        moved = model.states(Embedded(model.embed(ids) + 0.4 * normal(1, *ids.shape, WIDTH), mask))
        assert (moved[2] - found[2]).abs().amax(-1).min() > 1e-2, "the noise is seen"


@pytest.mark.parametrize("name", ENCODERS)
def test_every_parameter_of_an_encoder_learns_from_the_losses_of_all_layers(tokens: Tokens, name: str) -> None:
    model, (ids, mask) = shaken(encoder.build(text_params(), tokens, cells(name))), inputs(tokens)
    f = text_losses(logits(model, ids, mask), torch.tensor([0, 1, 1, 0, 1])).mean(-1)
    lagrangian(f, violations(f, small_problem()), torch.full((1, LAYERS + 1), 0.7)).sum().backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), label
        if not any(key in label for key in ("k_lin/bias", "key/bias")):  # softmax does not see a shift of all keys
            assert parameter.grad.abs().max() > 1e-6, label
    assert model.table.grad[0, PAD].abs().max() == 0


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_depend_on_its_seed_alone(tokens: Tokens, name: str) -> None:
    def built(seed: int, world: int) -> dict[str, Tensor]:
        torch.random.manual_seed(world)
        before = torch.random.get_rng_state()
        state = encoder.build(text_params(), tokens, cells(name, (seed,))).state_dict()
        assert torch.equal(before, torch.random.get_rng_state()), "nothing is drawn from the global stream"
        return state

    first, again, other = built(0, 1), built(0, 2), built(1, 1)
    assert first.keys() == other.keys() and all(torch.equal(first[key], again[key]) for key in first)
    different = {key for key in first if not torch.equal(first[key], other[key])}
    assert encoder.TABLE in different and "head.weight" in different
    assert all("bias" in key or "LayerNorm" in key or "layer_norm" in key for key in first.keys() - different)


@pytest.mark.parametrize("name", ENCODERS)
def test_dropout_follows_the_batch_and_rests_in_evaluation(tokens: Tokens, name: str) -> None:
    losses = {}
    for rate in (0.0, 0.5):
        params = text_params({f"{BUDGET}.{name}.dropout": rate})
        task = Classification(params, tokens, CPU, cells(name))
        model, batch = encoder.build(params, tokens, cells(name)), task.batch(0, 0)

        def run(key: tuple[int, ...], training: bool, now: tuple = (task, model, batch)) -> list[float]:
            task, model, batch = now
            torch.random.manual_seed(len(losses))  # the world goes on, which is none of a batch's business
            quiet = Batch(batch.ids, batch.mask, batch.labels, key, training)
            task.eps = torch.zeros(1)  # no noise, so that dropout alone follows the key
            return task.losses(model, quiet)[0].tolist()

        for key in ((0, 0, 0), (0, 0, 1)):
            losses[rate, key, True], losses[rate, key, False] = run(key, True), run(key, False)
            assert run(key, True) == losses[rate, key, True] and batch.training
    one, other = (0, 0, 0), (0, 0, 1)
    assert losses[0.0, one, True] == losses[0.0, other, True] == losses[0.0, one, False]
    assert losses[0.5, one, False] == losses[0.5, other, False] == losses[0.0, one, False]
    assert len({tuple(losses[0.5, *which]) for which in ((one, True), (other, True), (one, False))}) == 3


def pretrained(name: str, place: Path | str, **more: object) -> dict[str, object]:
    source = {"hub": {"id": place}} if isinstance(place, str) else {"path": str(place)}
    return {f"{BUDGET}.{name}.weights": {"random": None} | source} | more


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_local_folder_gives_its_own_weights(tokens: Tokens, tmp_path: Path, name: str, masked: bool) -> None:
    body, place = library(name, masked), tmp_path / "weights"
    body.save_pretrained(place)
    params = text_params(pretrained(name, place) | {f"{BUDGET}.{name}.dropout": 0.3})
    model = encoder.build(params, tokens, cells(name))
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
    for kind in ("frozen", "trained"):
        source = {f"{BUDGET}.ut_text.embeddings": {"width": None, "path": str(place)}}
        params = text_params(source | {"models.ut_text.embeddings": kind})
        model = ut_text.build(params, tokens, cells("ut_text", (0, 1)))
        assert ut_text.width(params) == WIDTH and model.table.shape[0] == (1 if kind == "frozen" else 2)
        assert all(torch.equal(own, table) for own in model.table)
        names = {key for key, _ in model.named_parameters()}
        assert names == set(model.state_dict()) and ("table" in names) == (kind == "trained")
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        logits(model, ids, mask).square().sum().backward()
        optimizer.step()
        moved = (model.table - table).abs().amax((1, 2))
        assert (moved > 1e-3).all() if kind == "trained" else not moved.any()


def refused(params_changes: dict, tokens: Tokens, name: str) -> str:
    module = ut_text if name == "ut_text" else encoder
    with pytest.raises(UserError) as error:
        module.build(text_params(params_changes), tokens, cells(name))
    return str(error.value)


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
    told = {
        "roberta": ["is a 'roberta', not a 'distilbert'", "profiles.<profile>.text.distilbert.weights"],
        "deep": ["has 3 layers", "text.distilbert.layers says 2"],
        "words": [f"has {VOCABULARY} tokens and pads with {PAD}", f"knows {VOCABULARY + 1} and", "tokenizers"],
        "pad": [f"knows {VOCABULARY} and pads with 3"],
        "short": ["reads at most 3 tokens", "text.max_tokens", "lower it in params.yaml"],
        "empty": ["cannot be loaded: it should be a folder with config.json and model.safetensors"],
        "absent": ["cannot be loaded: it should be a folder with config.json and model.safetensors"],
    }
    for folder, words in told.items():
        message = refused(pretrained("distilbert", tmp_path / folder), tokens, "distilbert")
        assert str(tmp_path / folder) in message and all(word in message for word in words), message
    weights = tmp_path / "right" / "model.safetensors"
    for damage in (lambda: weights.write_bytes(weights.read_bytes()[:200]), weights.unlink):
        damage()
        message = refused(pretrained("distilbert", tmp_path / "right"), tokens, "distilbert")
        assert "it should be a folder with" in message and "\n" not in message


def test_a_folder_of_other_weights_is_refused_rather_than_filled_with_random_ones(
    tokens: Tokens, tmp_path: Path
) -> None:
    library("distilbert").save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    save_file({key.replace("layer.1", "layers.1"): value for key, value in load_file(file).items()}, file)
    assert str(tmp_path) in refused(pretrained("distilbert", tmp_path), tokens, "distilbert")


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
        "bert": "is a 'bert'; UT reads those of distilbert, roberta",
        "words": "knows 99",
    }.items():
        source = {f"{BUDGET}.ut_text.embeddings": {"width": None, "path": str(tmp_path / folder)}}
        assert words in refused(source, tokens, "ut_text")


def test_a_hub_that_does_not_answer_is_told_with_the_way_around_it(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    nowhere = "nobody-here/no-such-model"
    for name, changes in {
        "distilbert": pretrained("distilbert", nowhere),
        "ut_text": {f"{BUDGET}.ut_text.embeddings": {"width": None, "hub": {"id": nowhere}}},
    }.items():
        message = refused(changes, tokens, name)
        assert f"the model {nowhere!r} cannot be loaded from the Hugging Face hub" in message
        assert "local_data" in message and "`path` in place of `hub`" in message and "Traceback" not in message
