"""How alike two pictures look: structural similarity (Wang et al. 2004), of all pictures of a stack at once.

scikit-image computes the same for one picture at a time; in a sweep over small patches that took twice the time of
the models themselves. Here both directions of the window's filter are a matrix product, on the pictures' device.
"""

from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from descent.training.devices import exact

RADIUS, SIGMA = 5, 1.5  # of the window, in pixels: Wang et al.'s 11 x 11 Gaussian
SMALLEST = 3  # the radius below which there is no window: 7 x 7, all that an 8 x 8 patch has room for
C1, C2 = 0.01**2, 0.03**2  # K1 and K2 of a data range of 1, squared


def ssim(
    pictures: Float[Tensor, "*stack n rows columns"], clean: Float[Tensor, "n rows columns"]
) -> Float[Tensor, "*stack n"]:
    r"""The structural similarity of each picture with its clean one, both in [0, 1].

    With weighted means over a window (mu, variances sigma^2, covariance), the mean over all windows within the
    picture of

    $$\frac{(2\mu_x\mu_y+C_1)(2\sigma_{xy}+C_2)}{(\mu_x^2+\mu_y^2+C_1)(\sigma_x^2+\sigma_y^2+C_2)}.$$

    In a picture smaller than 11 x 11 the window is the largest that lies within, the Gaussian cut off sooner; NaN
    where it is smaller than 7 x 7. Pictures are centred first: variances would else be small
    differences of large numbers, for which float32 is too short. Models may run in another precision, their scores
    do not.
    """
    radius = min(RADIUS, (min(clean.shape[-2:]) - 1) // 2)
    if radius < SMALLEST:
        return pictures.new_full(pictures.shape[:-2], torch.nan, dtype=torch.float64)
    pictures = pictures.float()
    clean = clean.float()
    down, across = (_windows(size, radius, clean.device) for size in clean.shape[-2:])

    def mean(x: Tensor) -> Tensor:
        # Windows by columns, whose order is nobody's business: copied, they are one product, else one a picture.
        return (x @ across).mT.contiguous() @ down

    with exact(clean.device):
        middle = clean.mean((-2, -1), keepdim=True)
        pictures = pictures - middle
        clean = clean - middle
        x = mean(pictures)
        y = mean(clean)
        both = mean(pictures.square()) - x.square() + (mean(clean.square()) - y.square())
        covariance = mean(pictures * clean) - x * y
        x = x + middle
        y = y + middle
        alike = (2 * x * y + C1) * (2 * covariance + C2) / ((x.square() + y.square() + C1) * (both + C2))
    return alike.mean((-2, -1)).double()


@cache  # pictures have few sizes, and levels are many
def _windows(size: int, radius: int, device: torch.device) -> Float[Tensor, "size windows"]:
    """The weights of the pixels of a line in each window that lies within it, a column each."""
    at = torch.arange(size, dtype=torch.float64)
    distance = at - at[radius : size - radius, None]
    weights = torch.exp(-(distance.square()) / (2 * SIGMA**2)) * (distance.abs() <= radius)
    return (weights / weights.sum(1, keepdim=True)).mT.contiguous().to(device, torch.float32)


def psnr(error: float) -> float:
    """The peak signal-to-noise ratio (dB) of a mean squared error on the scale of [0, 1]."""
    return -10 * float(np.log10(error)) if error > 0 else np.inf
