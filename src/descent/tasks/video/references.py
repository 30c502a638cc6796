"""Maps that learn nothing: the ends between which every denoiser's error lies."""

from jaxtyping import Float
from torch import Tensor

from descent.models.parts.denoiser import Denoiser


class Identity(Denoiser):
    """The noisy input as its own estimate: RMSE is exactly gamma * sigma * 255."""

    def states(self, noisy: Float[Tensor, "cells batch tokens pixels"]) -> list[Tensor]:
        """One state, X_0 = Y."""
        return [noisy]

    def readout(self, state: Tensor) -> Tensor:
        """The state itself."""
        return state


class Zero(Identity):
    """A black image: RMSE is the RMS intensity of the data, what a collapsed model scores."""

    def readout(self, state: Tensor) -> Tensor:
        """Zeros."""
        return state * 0
