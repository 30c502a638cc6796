"""What text models share: their input, and one linear readout for all layers.

A text model has the clean embeddings of token ids, `embed(ids)`, from its `table` of word embeddings (one for all
cells or one a cell), `states(Embedded)`: X_0 ... X_L already pooled, and `readout(states)`: logits of any number
of layers at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.training.noise import WEIGHTS, generator

READOUT = 2  # of the streams of initial weights; the matrices of UT take 0 and 1


class Embedded(NamedTuple):
    """Texts as (noisy) word embeddings; padded to the longest of the batch."""

    vectors: Float[Tensor, "cells batch tokens width"]
    mask: Bool[Tensor, "batch tokens"]  # real tokens, special ones included


class Readout(nn.Module):
    """The single linear layer before the softmax, shared by all layers of a model (C.3)."""

    def __init__(self, width: int, classes: int, seeds: Sequence[int]) -> None:
        super().__init__()
        weights = torch.empty(len(seeds), width, classes)
        for matrix, seed in zip(weights, seeds, strict=True):
            nn.init.xavier_normal_(matrix, generator=generator(WEIGHTS, seed, READOUT))
        self.weight = nn.Parameter(weights)
        self.bias = nn.Parameter(torch.zeros(len(seeds), classes))

    def forward(self, states: Float[Tensor, "cells *rest width"]) -> Float[Tensor, "cells *rest classes"]:
        """Logits; any number of layers is one product a cell."""
        logits = states.flatten(1, -2) @ self.weight + self.bias[:, None]
        return logits.unflatten(1, states.shape[1:-1])
