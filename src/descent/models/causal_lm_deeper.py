"""A second causal language model, beside the first: other weights, layers and tokenizer."""

from descent.models.causal_lm import Budget, Settings, build

__all__ = ["Budget", "Settings", "build"]

LABEL = "Causal LM, deeper"
TASK = "lm"
LIKE = "causal_lm"
