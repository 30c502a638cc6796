"""DistilBERT (section 5.2), the library's own."""

from collections.abc import Sequence

from transformers import DistilBertConfig

from descent.models.parts.encoder import Budget, Encoder, Settings, assemble, checked
from descent.models.parts.inputs import TextInputs

LABEL = "DistilBERT"
TASK = "text"


def build(settings: Settings, budget: Budget, inputs: TextInputs, layers: int, seeds: Sequence[int]) -> Encoder:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, are of another architecture or depth, or know other tokens.
    """
    config = _random(budget, inputs, layers)
    if config is None:
        config = checked("distilbert", budget, inputs, layers, "distilbert", before=0)
        config.dropout = config.attention_dropout = budget.dropout
    return assemble(config, budget, inputs, seeds)


def _random(budget: Budget, inputs: TextInputs, layers: int) -> DistilBertConfig | None:
    size = budget.weights.random
    return size and DistilBertConfig(
        vocab_size=inputs.vocabulary,
        pad_token_id=inputs.pad,
        n_layers=layers,
        dim=size.width,
        n_heads=size.heads,
        hidden_dim=size.feedforward,
        max_position_embeddings=inputs.max_tokens,
        dropout=budget.dropout,
        attention_dropout=budget.dropout,
    )
