"""Token replacement as strong as Gaussian noise: embeddings are those of other tokens of the batch.

Beside token dropout it tells whether what a model does not bear is that words are missing, or that embeddings are
zero, which no word's is.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.schema import Shift
from descent.shifts.parts.tokens import hit
from descent.training.noise import Stream

LABEL = "replaced tokens"
TASKS = ("text", "lm")
ENERGY = True
REAL = True  # it is told which tokens are no padding


class Settings(Shift):
    """The levels alone."""


def apply(
    clean: Float[Tensor, "#cells batch tokens width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
    real: Bool[Tensor, "batch tokens"],
) -> Float[Tensor, "cells batch tokens width"]:
    """A token is any of the batch's real ones with probability (level scale)^2 / E |e - e'|^2, of two drawn alike.

    Raises:
        UserError: the energy is that of more than all tokens.
    """
    tokens = clean[:, real]
    energy = 2 * (tokens - tokens.mean(1, keepdim=True)).square().mean((1, 2))
    numbers = stream.numpy()  # one generator: a second one would draw from the bits that say who is hit
    replaced = hit("token_replacement", energy, level, scale, numbers, tuple(real.shape))
    others = torch.from_numpy(numbers.integers(tokens.shape[1], size=real.numel())).to(clean.device)
    return torch.where(replaced[..., None], tokens[:, others].view_as(clean), clean)
