"""DistilBERT and RoBERTa (METHOD 3.5), the library's own, read out at the first token of every layer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxtyping import Float, Int64
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import embedding
from transformers import (
    AutoConfig,
    DistilBertConfig,
    DistilBertModel,
    PretrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    RobertaModel,
)
from transformers.utils import logging

from descent.cells import Cell
from descent.datasets.downloads import local
from descent.datasets.text import Tokens
from descent.errors import UserError
from descent.models.text import Embedded, Readout
from descent.params import Params
from descent.perturbations import WEIGHTS, seeded
from descent.schema_text import Embeddings, EncoderBudget, Weights

BODY = 4  # of the streams of initial weights
TABLE = "embeddings/word_embeddings/weight"

logging.set_verbosity_error()  # it warns of the pretraining heads that are left behind
logging.disable_progress_bar()


class Encoder(nn.Module):
    """One cell: a library's encoder under our contract, every parameter with a cells axis of length one.

    The library's module keeps its structure alone; weights and buffers live here and are lent to it at each call.
    """

    def __init__(self, body: PreTrainedModel, readout: Readout) -> None:
        super().__init__()
        for name, value in body.named_parameters():
            self.register_parameter(name.replace(".", "/"), nn.Parameter(value.detach()[None].clone()))
        for name, value in body.named_buffers():
            self.register_buffer(name.replace(".", "/"), value, persistent=False)
        self.head = readout
        self._body = (body.to("meta"),)  # in a tuple, so that its empty parameters are not counted as ours

    def train(self, mode: bool = True) -> "Encoder":
        """Dropout on or off, in the library's module too."""
        self._body[0].train(mode)
        return super().train(mode)

    @property
    def table(self) -> Float[Tensor, "1 vocabulary width"]:
        """The word embeddings."""
        return self.get_parameter(TABLE)

    def embed(self, ids: Int64[Tensor, "batch tokens"]) -> Float[Tensor, "1 batch tokens width"]:
        """The clean word embeddings, before positions and normalisation are added."""
        return embedding(ids, self.table.squeeze(0))[None]

    def states(self, noisy: Embedded) -> list[Float[Tensor, "1 batch width"]]:
        """X_0 ... X_L at the first token ([CLS], <s>); X_0 is the output of the embedding block."""
        lent = {name.replace("/", "."): value.squeeze(0) for name, value in self.named_parameters(recurse=False)}
        lent |= {name.replace("/", "."): value for name, value in self.named_buffers(recurse=False)}
        inputs = {"inputs_embeds": noisy.vectors.squeeze(0), "attention_mask": noisy.mask.long()}
        output = functional_call(
            self._body[0], lent, kwargs=inputs | {"output_hidden_states": True, "return_dict": True}
        )
        return [state[None, :, 0] for state in output.hidden_states]

    def readout(self, state: Float[Tensor, "1 *rest width"]) -> Float[Tensor, "1 *rest classes"]:
        """Logits of any number of layers."""
        return self.head(state)


def build(params: Params, tokens: Tokens, cells: Sequence[Cell]) -> Encoder:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, are of another architecture or depth, or know other tokens.
    """
    (cell,) = cells
    budget: EncoderBudget = getattr(params.budget.text, cell.model)
    with seeded(WEIGHTS, cell.seed, BODY):  # random weights, and those that a checkpoint lacks
        if budget.weights.random is not None:
            body = MODELS[cell.model](random_configuration(cell.model, budget, tokens), **NO_POOLER[cell.model])
        else:
            body = _pretrained(cell.model, budget, params.local_data, tokens)
    return Encoder(body.float(), Readout(body.config.hidden_size, tokens.classes, [cell.seed]))


MODELS = {"distilbert": DistilBertModel, "roberta": RobertaModel}
NO_POOLER: dict[str, dict[str, Any]] = {"distilbert": {}, "roberta": {"add_pooling_layer": False}}


def random_configuration(model: str, budget: EncoderBudget, tokens: Tokens) -> PretrainedConfig:
    """The library's configuration of an encoder of the asked size for these texts."""
    size, common = budget.weights.random, {"vocab_size": tokens.vocabulary, "pad_token_id": tokens.pad}
    if model == "distilbert":
        return DistilBertConfig(
            n_layers=budget.layers,
            dim=size.width,
            n_heads=size.heads,
            hidden_dim=size.feedforward,
            max_position_embeddings=tokens.max_tokens,
            dropout=budget.dropout,
            attention_dropout=budget.dropout,
            **common,
        )
    return RobertaConfig(
        num_hidden_layers=budget.layers,
        hidden_size=size.width,
        num_attention_heads=size.heads,
        intermediate_size=size.feedforward,
        max_position_embeddings=tokens.max_tokens + tokens.pad + 1,  # its positions begin after the pad id
        type_vocab_size=1,
        hidden_dropout_prob=budget.dropout,
        attention_probs_dropout_prob=budget.dropout,
        **common,
    )


def configuration(source: Weights | Embeddings, local_data: str) -> PretrainedConfig:
    """The configuration of a pretrained encoder, from a local folder or the hub.

    Raises:
        UserError: it cannot be read.
    """
    place, revision = _place(source, local_data)
    try:
        return AutoConfig.from_pretrained(place, revision=revision)
    except (OSError, ValueError) as error:
        raise UserError(_unreadable(place, error)) from None


def word_embeddings(source: Embeddings, local_data: str, tokens: Tokens) -> Float[Tensor, "vocabulary width"]:
    """The word embeddings of a pretrained DistilBERT or RoBERTa, for UT.

    Raises:
        UserError: they cannot be read, or know other tokens than the texts.
    """
    config = configuration(source, local_data)
    if config.model_type not in MODELS:
        known = ", ".join(MODELS)
        raise UserError(f"{_place(source, local_data)[0]} is a {config.model_type!r}; UT reads those of {known}")
    _check_vocabulary(config, tokens, str(_place(source, local_data)[0]))
    body = _load(config.model_type, source, local_data, config)
    return body.get_input_embeddings().weight.detach().float()


def _pretrained(model: str, budget: EncoderBudget, local_data: str, tokens: Tokens) -> PreTrainedModel:
    config, place = configuration(budget.weights, local_data), str(_place(budget.weights, local_data)[0])
    if config.model_type != model:
        raise UserError(
            f"{place} is a {config.model_type!r}, not a {model!r}: name another source under "
            f"profiles.<profile>.text.{model}.weights in params.yaml"
        )
    if config.num_hidden_layers != budget.layers:
        raise UserError(
            f"{place} has {config.num_hidden_layers} layers, profiles.<profile>.text.{model}.layers says "
            f"{budget.layers}: make them agree in params.yaml"
        )
    _check_vocabulary(config, tokens, place)
    room = config.max_position_embeddings - (tokens.pad + 1 if model == "roberta" else 0)
    if tokens.max_tokens > room:
        raise UserError(
            f"{place} reads at most {room} tokens, profiles.<profile>.text.max_tokens is {tokens.max_tokens}: "
            "lower it in params.yaml"
        )
    names = ("dropout", "attention_dropout")
    if model == "roberta":
        names = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    for name in names:
        setattr(config, name, budget.dropout)
    return _load(model, budget.weights, local_data, config)


def _load(model: str, source: Weights | Embeddings, local_data: str, config: PretrainedConfig) -> PreTrainedModel:
    place, revision = _place(source, local_data)
    try:
        body, told = MODELS[model].from_pretrained(
            place, revision=revision, config=config, output_loading_info=True, **NO_POOLER[model]
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(_unreadable(place, error)) from None
    if told["missing_keys"]:
        raise UserError(f"{place} has no weights for {sorted(told['missing_keys'])[0]}: it is of another model")
    return body


def _place(source: Weights | Embeddings, local_data: str) -> tuple[Path | str, str | None]:
    """What the library loads from, a folder or a hub id, and the revision."""
    if source.hub is not None:
        return source.hub.id, source.hub.revision
    return local(local_data, source.path), None


def _check_vocabulary(config: PretrainedConfig, tokens: Tokens, place: str) -> None:
    if config.vocab_size != tokens.vocabulary or config.pad_token_id != tokens.pad:
        raise UserError(
            f"the tokenizer {tokens.tokenizer!r} of {tokens.name} has {tokens.vocabulary} tokens and pads with "
            f"{tokens.pad}, {place} knows {config.vocab_size} and pads with {config.pad_token_id}: name the "
            "model's own tokenizer under profiles.<profile>.text.tokenizers"
        )


def _unreadable(place: Path | str, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0]
    if isinstance(place, Path):
        wanted = "config.json and model.safetensors, as the Hugging Face hub has them"
        return f"{place} cannot be loaded: it should be a folder with {wanted} ({reason})"
    return (
        f"the model {place!r} cannot be loaded from the Hugging Face hub ({reason}). Without a network put its "
        "files (config.json, model.safetensors) into a folder under local_data and name it with `path` in place "
        "of `hub` in params.yaml"
    )
