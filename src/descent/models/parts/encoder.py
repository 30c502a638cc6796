"""Encoders of the transformers library (section 5.2), read out at the first token of every layer."""

from collections.abc import Sequence

from jaxtyping import Float, Int64
from pydantic import model_validator
from torch import Tensor
from torch.nn.functional import embedding
from transformers import DistilBertModel, PretrainedConfig, PreTrainedModel, RobertaModel

from descent.errors import UserError
from descent.models.parts import pretrained
from descent.models.parts.inputs import Pretrained, TextInputs
from descent.models.parts.pretrained import BODY, PretrainedBackbone, configuration, load, place
from descent.models.parts.text import Embedded, Readout
from descent.schema import Count, Schema, Share, TextBudget
from descent.training.noise import WEIGHTS, seeded

TABLE = "embeddings/word_embeddings/weight"
# The library's class of each architecture, and what it is told beside its configuration.
KINDS: dict[str, tuple[type[PreTrainedModel], dict[str, bool]]] = {
    "distilbert": (DistilBertModel, {}),
    "roberta": (RobertaModel, {"add_pooling_layer": False}),
}


class Settings(Schema):
    """Which of the tokenizers is the model's."""

    tokenizer: str


class Size(Schema):
    """An encoder with random weights."""

    width: Count
    heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole_heads(self) -> "Size":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self


class Weights(Pretrained):
    """Where an encoder comes from: exactly one of random, path (a local folder), hub."""

    random: Size | None = None


class Budget(TextBudget):
    """Beside what every model has, the weights; a pretrained encoder must have as many layers."""

    weights: Weights
    dropout: Share


class Encoder(PretrainedBackbone):
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
        sdpa = self._body[0].config._attn_implementation == "sdpa"
        # Of two axes the library would ask the device at every step whether all tokens are real.
        mask = noisy.mask[:, None, None] if sdpa else noisy.mask.long()
        inputs = {"inputs_embeds": noisy.vectors.squeeze(0), "attention_mask": mask}
        return [state[None, :, 0] for state in self.hidden_states(**inputs)]

    def readout(self, state: Float[Tensor, "1 *rest width"]) -> Float[Tensor, "1 *rest classes"]:
        """Logits of any number of layers."""
        return self.head(state)


def assemble(config: PretrainedConfig, budget: Budget, inputs: TextInputs, seeds: Sequence[int]) -> Encoder:
    """The model of one cell, with random weights or the source's.

    Raises:
        UserError: the weights cannot be read.
    """
    (seed,) = seeds
    kind, options = KINDS[config.model_type]
    with seeded(WEIGHTS, seed, BODY):  # random weights, and those that a checkpoint lacks
        if budget.weights.random is not None:
            body = kind(config, **options)
        else:
            body = load(kind, budget.weights, inputs.local_data, config, **options)
    return Encoder(body.float(), Readout(body.config.hidden_size, inputs.classes, [seed]))


def checked(
    kind: str, budget: Budget, inputs: TextInputs, layers: int, model: str, before: int
) -> PretrainedConfig:
    """The configuration of pretrained weights that fit the texts.

    Args:
        kind: the architecture, as the library names it.
        before: positions that stand before a text's first one.

    Raises:
        UserError: they cannot be read, are of another architecture or depth, or know other or fewer tokens.
    """
    config, where = pretrained.checked(budget.weights, inputs.local_data, kind, layers, model)
    _check_vocabulary(config, inputs, str(where))
    room = config.max_position_embeddings - before
    if inputs.max_tokens > room:
        raise UserError(
            f"{where} reads at most {room} tokens, the profile's text.max_tokens is {inputs.max_tokens}: "
            "lower it in params.yaml"
        )
    return config


def word_embeddings(source: Pretrained, inputs: TextInputs) -> Float[Tensor, "vocabulary width"]:
    """The word embeddings of a pretrained encoder, for UT.

    Raises:
        UserError: they cannot be read, or know other tokens than the texts.
    """
    config = configuration(source, inputs.local_data)
    where = place(source, inputs.local_data)[0]
    if config.model_type not in KINDS:
        known = ", ".join(KINDS)
        raise UserError(f"{where} is a {config.model_type!r}; UT reads the word embeddings of {known}")
    _check_vocabulary(config, inputs, str(where))
    kind, options = KINDS[config.model_type]
    body = load(kind, source, inputs.local_data, config, **options)
    return body.get_input_embeddings().weight.detach().float()


def _check_vocabulary(config: PretrainedConfig, inputs: TextInputs, where: str) -> None:
    if config.vocab_size != inputs.vocabulary or config.pad_token_id != inputs.pad:
        raise UserError(
            f"the tokenizer {inputs.tokenizer!r} of {inputs.name} has {inputs.vocabulary} tokens and pads with "
            f"{inputs.pad}, {where} knows {config.vocab_size} and pads with {config.pad_token_id}: name the "
            "model's own tokenizer under the profile's text.tokenizers"
        )
