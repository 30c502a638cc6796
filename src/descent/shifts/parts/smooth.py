"""Pictures smoothed by a Gaussian, by OpenCV: all of a batch at once."""

import cv2
import numpy as np
from jaxtyping import Float

CHANNELS = 128  # that OpenCV takes of one picture
REACH = 4  # deviations at which a window ends


def kernel(sigma: float) -> Float[np.ndarray, "side 1"]:
    """The weights of a window along one line, which sum to one."""
    return cv2.getGaussianKernel(2 * int(REACH * sigma + 0.5) + 1, sigma, cv2.CV_64F)


def smoothed(
    pictures: Float[np.ndarray, "*stack rows columns"], sigma: float
) -> Float[np.ndarray, "*stack rows columns"]:
    """The pictures, smoothed by `sigma` pixels; beyond its edges a picture is its mirror image."""
    # All pictures as channels of one are several times faster than one after the other.
    flat = pictures.reshape(-1, *pictures.shape[-2:]).transpose(1, 2, 0)
    found = [_of_one(flat[..., at : at + CHANNELS], sigma) for at in range(0, flat.shape[2], CHANNELS)]
    return np.concatenate(found, axis=2).transpose(2, 0, 1).reshape(pictures.shape)


def _of_one(
    channels: Float[np.ndarray, "rows columns number"], sigma: float
) -> Float[np.ndarray, "rows columns number"]:
    side = len(kernel(sigma))
    plain = np.ascontiguousarray(channels)
    found = cv2.GaussianBlur(plain, (side, side), sigma, borderType=cv2.BORDER_REFLECT_101)
    return found.reshape(channels.shape)  # of a single channel OpenCV drops the axis
