"""Images from tokens: directly where a token has as many numbers as a patch, else through a fixed unfolding."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.models.parts.layers import dct

CHANNELS = 3


class Fold(nn.Module):
    """An image from tokens that are its patches, directly or through the fixed `unfolding`; nothing is learned."""

    def __init__(self, width: int, patch: int) -> None:
        super().__init__()
        self.patch = patch
        self.register_buffer("unfolding", unfolding(width, patch), persistent=False)

    def forward(self, tokens: Float[Tensor, "cells batch patches width"]) -> Float[Tensor, "cells batch 3 s s"]:
        """Patches are row-major in the image."""
        return fold(tokens if self.unfolding is None else tokens @ self.unfolding, self.patch)


def fold(patches: Float[Tensor, "*batch patches numbers"], patch: int) -> Float[Tensor, "*batch 3 s s"]:
    """An image from its patches, row-major; the numbers of a patch are in the order (channel, row, column)."""
    side = round(patches.shape[-2] ** 0.5)
    grid = patches.unflatten(-1, (CHANNELS, patch, patch)).unflatten(-4, (side, side))
    rows, columns, channel, row, column = (grid.dim() - 5 + axis for axis in range(5))
    order = (*range(grid.dim() - 5), channel, rows, row, columns, column)
    return grid.permute(order).flatten(-4, -3).flatten(-2, -1)


def unfolding(width: int, patch: int) -> Float[Tensor, "width numbers"] | None:
    """How a token stands for a patch of 3 * patch * patch numbers; None where it has as many: directly.

    Fixed and orthonormal, for the widths that the paper does not speak of. A narrower token holds the amplitudes
    of gray cosine waves, the slowest first, and then those of differences between channels: the frames are gray,
    so few numbers say much. Of a wider token the numbers beyond are not read.
    """
    numbers = CHANNELS * patch**2
    if width == numbers:
        return None
    if width > numbers:
        return torch.eye(width, numbers)
    waves = dct(patch**2, patch**2).mT  # (frequency, pixel)
    down = torch.arange(patch**2) // patch
    across = torch.arange(patch**2) % patch
    slowest_first = waves[(down + across).argsort(stable=True)]
    mixtures = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])
    mixtures = mixtures / torch.linalg.vector_norm(mixtures, dim=1, keepdim=True)
    return torch.kron(mixtures, slowest_first)[:width]
