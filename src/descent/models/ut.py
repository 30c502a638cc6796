"""UT, the unrolled transformer of Yang, Huang and Wipf (2022): eq. (45)-(48), two readings for video."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.models.dust import DUST
from descent.models.layers import attention, dct, per_cell
from descent.params import Params


class UT(nn.Module):
    """Reading A: tokens are patches of pixels, the output is read directly.

    Y^{l-1/2} = sm(Y^{l-1} W_a^T W_a Y^{l-1}^T) Y^{l-1}                                         (47)
    Y^l       = ReLU([Y^{l-1/2} +] Y^{l-1/2} W_s + b),   W_s = -(W_f + W_f^T) / 2              (48)

    Y^0 is the noisy input. W_a starts as the orthonormal DCT, W_f Xavier-normal times `gain`, b at zero.
    """

    def __init__(
        self,
        cells: int,
        layers: int,
        pixels: int,
        gain: float = 0.0,
        residual: bool = True,
        exact_beta: bool = False,
        decouple: bool = False,
        seeds: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.layers, self.residual, self.exact_beta = layers, residual, exact_beta
        self.sets = layers if decouple else 1
        basis = dct(pixels, pixels).mT
        self.attention = nn.Parameter(basis.expand(cells, self.sets, pixels, pixels).clone())
        self.feedforward = nn.Parameter(self._xavier(seeds or [0] * cells, pixels, gain))
        self.bias = nn.Parameter(torch.zeros(cells, self.sets, pixels))

    def states(
        self, noisy: Float[Tensor, "cells batch tokens pixels"]
    ) -> list[Float[Tensor, "cells batch tokens pixels"]]:
        """The iterates Y^0 ... Y^L."""
        sets = list(zip(self.attention.unbind(1), self.feedforward.unbind(1), self.bias.unbind(1), strict=True))
        states = [noisy]
        for weights in sets if len(sets) == self.layers else sets * self.layers:
            states.append(self._layer(*weights, states[-1]))
        return states

    def readout(
        self, state: Float[Tensor, "cells batch tokens pixels"]
    ) -> Float[Tensor, "cells batch tokens pixels"]:
        """The denoised patches at one layer: the state itself."""
        return state

    def _layer(self, attend: Tensor, feedforward: Tensor, bias: Tensor, tokens: Tensor) -> Tensor:
        tokens = attention(per_cell(tokens, attend.mT), self.exact_beta) @ tokens
        step = per_cell(tokens, -(feedforward + feedforward.mT) / 2) + bias[:, None, None]
        return (tokens + step if self.residual else step).relu()

    def _xavier(self, seeds: Sequence[int], pixels: int, gain: float) -> Tensor:
        weights = torch.empty(len(seeds), self.sets, pixels, pixels)
        for cell, seed in enumerate(seeds):
            generator = torch.Generator().manual_seed(seed)
            for matrix in weights[cell]:
                nn.init.xavier_normal_(matrix, gain, generator)
        return weights


def build(params: Params, cells: Sequence[Cell]) -> UT | DUST:
    """A stack of cells of one data set and depth; reading B is DUST with ReLU for the soft threshold."""
    settings, pixels, layers = params.models.ut, params.video.frame.patch**2, cells[0].layers
    if settings.reading == "codes":
        dictionary = dct(pixels, params.budget.video.atoms)
        shared, scale = not settings.decouple, settings.step_scale
        return DUST(len(cells), layers, dictionary, shared, shrink=torch.relu, step_scale=scale)
    return UT(
        cells=len(cells),
        layers=layers,
        pixels=pixels,
        gain=settings.feedforward_gain,
        residual=settings.residual,
        exact_beta=settings.exact_beta,
        decouple=settings.decouple,
        seeds=[cell.seed for cell in cells],
    )


def width(params: Params) -> int:
    """Numbers per token in one state: what a stack's size is counted in."""
    return params.budget.video.atoms if params.models.ut.reading == "codes" else params.video.frame.patch**2
