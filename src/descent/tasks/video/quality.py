"""How alike two pictures look: scikit-image's structural similarity, of many small pictures at once."""

import numpy as np
from jaxtyping import Float
from skimage.metrics import structural_similarity

# Wang et al.'s settings, as scikit-image's documentation names them.
SETTINGS = {"data_range": 1, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
RADIUS = 5  # of the window that these make: 11 pixels


def ssim(
    pictures: Float[np.ndarray, "n rows columns"], clean: Float[np.ndarray, "n rows columns"]
) -> Float[np.ndarray, " n"]:
    """The structural similarity of each picture with its clean one, both in [0, 1].

    The pictures stand one below the other, and scikit-image filters them as one: of each only the pixels whose
    window lies within it count, which are those that count where it is asked for that picture alone.
    """
    count, rows, columns = pictures.shape
    if min(rows, columns) <= 2 * RADIUS:
        return np.full(count, np.nan)  # smaller than a window
    one, other = (np.ascontiguousarray(p, np.float32).reshape(count * rows, columns) for p in (pictures, clean))
    _, whole = structural_similarity(one, other, full=True, **SETTINGS)
    inside = whole.reshape(count, rows, columns)[:, RADIUS : rows - RADIUS, RADIUS : columns - RADIUS]
    return inside.mean((1, 2), dtype=np.float64)


def psnr(error: float) -> float:
    """The peak signal-to-noise ratio (dB) of a mean squared error on the scale of [0, 1]."""
    return -10 * float(np.log10(error)) if error > 0 else np.inf
