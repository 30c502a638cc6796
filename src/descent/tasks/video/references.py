"""Maps that learn nothing: the ends between which a denoiser's error lies, and what one would use instead."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from skimage.restoration import denoise_nl_means, denoise_tv_chambolle
from torch import Tensor, nn

from descent.models.parts.denoiser import Pixels

Filter = Callable[[Tensor], Tensor]  # noisy inputs in [0, 1] to estimates of the clean ones
TV_WEIGHT = 1.2  # of the deviation of the noise: near the best on natural frames at every level
IDENTITY = "identity"  # the map whose error is the energy of what a shift adds
NLM_H = 0.6  # of the same: scikit-image's documentation names .6 to .8 for known noise


class Map(Pixels):
    """A filter of the input under a model's contract, its answers in the space of some model."""

    def __init__(self, space: nn.Module, apply: Filter) -> None:
        super().__init__()
        self.space, self.apply_filter, self.legal = space, apply, space.legal

    def target(self, clean: Tensor) -> Tensor:
        """As the space has it."""
        return self.space.target(clean)

    def pictures(self, answers: Tensor) -> Tensor:
        """As the space has them."""
        return self.space.pictures(answers)

    def states(self, noisy: Tensor) -> list[Tensor]:
        """One state, X_0: the filtered input."""
        return [self.apply_filter(noisy)]

    def readout(self, state: Tensor) -> Tensor:
        """The state in the space's units."""
        return self.space.target(state)


class Once:
    """A filter, told the noise's deviation, that remembers its last answer: the spaces of models share it."""

    def __init__(self, told: Callable[[float], Filter], noise: float) -> None:
        self.filter = told(noise)
        self._last: tuple[Tensor, Tensor] | None = None

    def __call__(self, noisy: Tensor) -> Tensor:
        """The filtered input."""
        if self._last is None or not torch.equal(self._last[0], noisy):
            self._last = noisy, self.filter(noisy)
        return self._last[1]


def identity(noisy: Tensor) -> Tensor:
    """The noisy input as its own estimate: of pixels the RMSE is exactly gamma * sigma * 255."""
    return noisy


def zero(noisy: Tensor) -> Tensor:
    """A black image: of pixels the RMSE is the RMS intensity of the data, what a collapsed model scores."""
    return torch.zeros_like(noisy)


def tv_chambolle(noise: float) -> Filter:
    """Total variation on whole frames, told the noise's deviation (in [0, 1] units)."""
    return partial(_by_frame, partial(denoise_tv_chambolle, weight=TV_WEIGHT * noise), noise)


def nl_means(noise: float) -> Filter:
    """Non-local means on whole frames, told the noise's deviation (in [0, 1] units)."""
    known = partial(denoise_nl_means, patch_size=5, patch_distance=6, h=NLM_H * noise, sigma=noise, fast_mode=True)
    return partial(_by_frame, known, noise)


def frame_mean(noisy: Tensor) -> Tensor:
    """Of (cells, batch, tokens, pixels) every patch as its mean over tokens: over time, without learning."""
    return noisy.mean(-2, keepdim=True).expand_as(noisy)


UNTOLD: dict[str, Filter] = {IDENTITY: identity, "zero": zero, "frame_mean": frame_mean}  # are told nothing
CLASSICAL: dict[str, Callable[[float], Filter]] = {"tv_chambolle": tv_chambolle, "nl_means": nl_means}


def _by_frame(filtered: Callable[[np.ndarray], np.ndarray], noise: float, frames: Tensor) -> Tensor:
    if noise == 0:  # nothing to remove
        return frames
    pictures = frames.flatten(0, -3).cpu().numpy()
    clean = np.stack([filtered(picture) for picture in pictures]).astype(np.float32)
    return torch.from_numpy(clean).to(frames.device).view_as(frames)
