"""RoBERTa (section 5.2), the library's own."""

from collections.abc import Sequence

from transformers import RobertaConfig

from descent.models.parts.encoder import Budget, Encoder, Settings, assemble, checked
from descent.models.parts.inputs import TextInputs

LABEL = "RoBERTa"
TASK = "text"


def build(settings: Settings, budget: Budget, inputs: TextInputs, layers: int, seeds: Sequence[int]) -> Encoder:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, are of another architecture or depth, or know other tokens.
    """
    config = _random(budget, inputs, layers)
    if config is None:
        config = checked("roberta", budget, inputs, layers, "roberta", before=inputs.pad + 1)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = budget.dropout
    return assemble(config, budget, inputs, seeds)


def _random(budget: Budget, inputs: TextInputs, layers: int) -> RobertaConfig | None:
    size = budget.weights.random
    return size and RobertaConfig(
        vocab_size=inputs.vocabulary,
        pad_token_id=inputs.pad,
        num_hidden_layers=layers,
        hidden_size=size.width,
        num_attention_heads=size.heads,
        intermediate_size=size.feedforward,
        max_position_embeddings=inputs.max_tokens + inputs.pad + 1,  # its positions begin after the pad id
        type_vocab_size=1,
        hidden_dropout_prob=budget.dropout,
        attention_probs_dropout_prob=budget.dropout,
    )
