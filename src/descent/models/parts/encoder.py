"""DistilBERT and RoBERTa (METHOD 3.5), the library's own, read out at the first token of every layer."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import embedding
from transformers import (
    DistilBertConfig,
    DistilBertModel,
    PretrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    RobertaModel,
)

from descent.cells import Cell
from descent.config import Params
from descent.errors import UserError
from descent.models.parts.pretrained import BODY, Borrowed, check, configuration, load, place
from descent.models.parts.text import Embedded, Readout
from descent.tasks.text.data import Tokens
from descent.tasks.text.schema import Embeddings, EncoderBudget
from descent.training.noise import WEIGHTS, seeded

TABLE = "embeddings/word_embeddings/weight"


class Encoder(Borrowed):
    """One cell: a library's encoder and the readout that all its layers share."""

    def __init__(self, body: PreTrainedModel, readout: Readout) -> None:
        super().__init__(body)
        self.head = readout

    @property
    def table(self) -> Float[Tensor, "1 vocabulary width"]:
        """The word embeddings."""
        return self.get_parameter(TABLE)

    def embed(self, ids: Int64[Tensor, "batch tokens"]) -> Float[Tensor, "1 batch tokens width"]:
        """The clean word embeddings, before positions and normalisation are added."""
        return embedding(ids, self.table.squeeze(0))[None]

    def states(self, noisy: Embedded) -> list[Float[Tensor, "1 batch width"]]:
        """X_0 ... X_L at the first token ([CLS], <s>); X_0 is the output of the embedding block."""
        inputs = {"inputs_embeds": noisy.vectors.squeeze(0), "attention_mask": noisy.mask.long()}
        return [state[None, :, 0] for state in self.hidden_states(**inputs)]

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


def word_embeddings(source: Embeddings, local_data: str, tokens: Tokens) -> Float[Tensor, "vocabulary width"]:
    """The word embeddings of a pretrained DistilBERT or RoBERTa, for UT.

    Raises:
        UserError: they cannot be read, or know other tokens than the texts.
    """
    config = configuration(source, local_data)
    if config.model_type not in MODELS:
        known = ", ".join(MODELS)
        raise UserError(f"{place(source, local_data)[0]} is a {config.model_type!r}; UT reads those of {known}")
    _check_vocabulary(config, tokens, str(place(source, local_data)[0]))
    body = load(MODELS[config.model_type], source, local_data, config, **NO_POOLER[config.model_type])
    return body.get_input_embeddings().weight.detach().float()


def _pretrained(model: str, budget: EncoderBudget, local_data: str, tokens: Tokens) -> PreTrainedModel:
    config, where = configuration(budget.weights, local_data), str(place(budget.weights, local_data)[0])
    check(config, where, model, budget.layers, f"profiles.<profile>.text.{model}")
    _check_vocabulary(config, tokens, where)
    room = config.max_position_embeddings - (tokens.pad + 1 if model == "roberta" else 0)
    if tokens.max_tokens > room:
        raise UserError(
            f"{where} reads at most {room} tokens, profiles.<profile>.text.max_tokens is {tokens.max_tokens}: "
            "lower it in params.yaml"
        )
    names = ("dropout", "attention_dropout")
    if model == "roberta":
        names = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    for name in names:
        setattr(config, name, budget.dropout)
    return load(MODELS[model], budget.weights, local_data, config, **NO_POOLER[model])


def _check_vocabulary(config: PretrainedConfig, tokens: Tokens, where: str) -> None:
    if config.vocab_size != tokens.vocabulary or config.pad_token_id != tokens.pad:
        raise UserError(
            f"the tokenizer {tokens.tokenizer!r} of {tokens.name} has {tokens.vocabulary} tokens and pads with "
            f"{tokens.pad}, {where} knows {config.vocab_size} and pads with {config.pad_token_id}: name the "
            "model's own tokenizer under profiles.<profile>.text.tokenizers"
        )
