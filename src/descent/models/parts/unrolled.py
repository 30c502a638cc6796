"""The layers of UT, the unrolled transformer of Yang, Huang and Wipf (2022): eq. (45)-(48)."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.models.parts.denoiser import Denoiser
from descent.models.parts.layers import attention, dct, per_cell
from descent.training.noise import WEIGHTS, generator


class UT(Denoiser):
    """Tokens as they are: patches of pixels (reading A for video) or word embeddings; both matrices square.

    Y^{l-1/2} = sm(Y^{l-1} W_a^T W_a Y^{l-1}^T) Y^{l-1}                                         (47)
    Y^l       = ReLU([Y^{l-1/2} +] Y^{l-1/2} W_s + b),   W_s = -(W_f + W_f^T) / 2              (48)

    Y^0 is the noisy input. W_a starts as the orthonormal DCT or Xavier-normal, W_f Xavier-normal times `gain`,
    b at zero.
    """

    def __init__(
        self,
        cells: int,
        layers: int,
        width: int,
        start: Literal["dct", "xavier"] = "dct",
        gain: float = 0.0,
        residual: bool = True,
        exact_beta: bool = False,
        decouple: bool = False,
        seeds: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.layers, self.residual, self.exact_beta = layers, residual, exact_beta
        shape = (cells, layers if decouple else 1, width, width)
        seeds = seeds or [0] * cells
        dct_start = dct(width, width).mT.expand(shape).clone() if start == "dct" else None
        self.attention = nn.Parameter(_xavier(seeds, 1, shape, 1.0) if dct_start is None else dct_start)
        self.feedforward = nn.Parameter(_xavier(seeds, 0, shape, gain))
        self.bias = nn.Parameter(torch.zeros(shape[:3]))

    def states(
        self, noisy: Float[Tensor, "cells batch tokens width"], mask: Bool[Tensor, "batch tokens"] | None = None
    ) -> list[Float[Tensor, "cells batch tokens width"]]:
        """The iterates Y^0 ... Y^L; with a mask of real tokens the others are seen by none of these."""
        sets = list(zip(self.attention.unbind(1), self.feedforward.unbind(1), self.bias.unbind(1), strict=True))
        states = [noisy]
        for weights in sets if len(sets) == self.layers else sets * self.layers:
            states.append(self._layer(*weights, states[-1], mask))
        return states

    def readout(
        self, state: Float[Tensor, "cells batch tokens width"]
    ) -> Float[Tensor, "cells batch tokens width"]:
        """The denoised patches at one layer: the state itself."""
        return state

    def _layer(
        self, attend: Tensor, feedforward: Tensor, bias: Tensor, tokens: Tensor, mask: Tensor | None
    ) -> Tensor:
        tokens = attention(per_cell(tokens, attend.mT), self.exact_beta, mask) @ tokens
        # Symmetric by construction, as a gradient step on an energy needs: the theory speaks of no other W_s.
        step = per_cell(tokens, -(feedforward + feedforward.mT) / 2) + bias[:, None, None]
        return (tokens + step if self.residual else step).relu()


def _xavier(seeds: Sequence[int], stream: int, shape: tuple[int, ...], gain: float) -> Tensor:
    """Xavier-normal matrices; a cell's depend on its seed alone."""
    weights = torch.empty(shape)
    for cell, seed in enumerate(seeds):
        numbers = generator(WEIGHTS, seed, stream)
        for matrix in weights[cell]:
            nn.init.xavier_normal_(matrix, gain, numbers)
    return weights
