"""A heat map with the numbers in its squares."""

from collections.abc import Collection

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

LOOK = "RdBu"
DARK = 0.7  # of the reach: above it ink is white


def squares(
    axes: Axes,
    values: Float[np.ndarray, "rows columns"],
    words: dict[tuple[int, int], str],
    reach: float,
    slanted: Collection[tuple[int, int]] = (),
) -> None:
    """Colour every known value, blue above zero and red below, with its words in it; the first row is on top.

    Args:
        values: NaN where nothing is known.
        words: by (row, column).
        reach: where the colours are full.
        slanted: the (row, column) of words in italics.
    """
    rows, columns = (np.arange(count + 1) - 0.5 for count in values.shape)
    axes.pcolormesh(columns, rows, np.ma.masked_invalid(values), cmap=LOOK, vmin=-reach, vmax=reach)
    axes.set_xlim(columns[0], columns[-1])
    axes.set_ylim(rows[-1], rows[0])
    for (row, column), own in words.items():
        ink = "white" if abs(values[row, column]) > DARK * reach else "black"
        slant = "italic" if (row, column) in slanted else "normal"
        axes.text(column, row, own, ha="center", va="center", fontsize=7, color=ink, style=slant)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
