"""The space of a video model's answers; unless a model has one of its own, that of its input."""

import math

from jaxtyping import Float
from torch import Tensor, nn


class Pixels(nn.Module):
    """Answers are pixels in [0, 1], compared with the clean input itself."""

    legal = (0.0, 1.0)  # black and white in the units of the answers

    def target(self, clean: Tensor) -> Tensor:
        """What the readout of every layer is compared with."""
        return clean

    def pictures(
        self, answers: Float[Tensor, "cells batch *parts pixels"]
    ) -> Float[Tensor, "cells n rows columns"]:
        """Answers as gray pictures in [0, 1], clipped: frames as they are, patches as squares."""
        gray = answers.clamp(*self.legal)
        if answers.dim() == 4 and answers.shape[-1] != answers.shape[-2]:  # sequences of patches
            side = math.isqrt(answers.shape[-1])
            gray = gray.flatten(1, 2).unflatten(-1, (side, side))
        return gray


class Denoiser(Pixels):
    """A video model: `states(noisy)` gives X_0 ... X_L, `readout(state)` the answer of one layer."""
