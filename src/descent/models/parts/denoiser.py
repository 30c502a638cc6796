"""What every video model tells of its answers beside giving them: `states(noisy)`, `readout(state)`, and these."""

from torch import Tensor, nn


class Denoiser(nn.Module):
    """Answers in the units of its input: pixels in [0, 1]."""

    legal = (0.0, 1.0)  # black and white in the units of the answers

    def target(self, clean: Tensor) -> Tensor:
        """What the readout of every layer is compared with: the clean input."""
        return clean
