"""Tiny encoders of the transformers library."""

from torch import Tensor, nn
from transformers import (
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
)

from tests.fakes.text import LAYERS, LONGEST, PAD, VOCABULARY, normal

ENCODERS = ("distilbert", "roberta")
WIDTH = 8


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


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Of one of our encoders, by the library's names."""
    return {name.replace("/", "."): p[0].detach() for name, p in model.named_parameters() if "head." not in name}
