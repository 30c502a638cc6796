"""The scales of axes: logarithms in plain numbers, and shares in percent."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

PLAIN = FuncFormatter(lambda value, _: f"{value:g}")
MOST_TICKS = 10  # that a panel of a page's third in height has room for


class FewDecades(LogLocator):
    """Ticks at 1, 2 and 5 of every decade; where fewer than three of these are in view, at even distances within
    one decade, and of many decades at powers of ten."""

    def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
        """What matplotlib asks for, between two ends of the axis."""
        ticks = np.asarray(super().tick_values(vmin, vmax))
        if 2 < np.count_nonzero((ticks >= vmin) & (ticks <= vmax)) <= MOST_TICKS:
            return ticks
        others = MaxNLocator(4) if vmax < 10 * vmin else LogLocator(numticks=7)
        found = np.asarray(others.tick_values(vmin, vmax))
        return found[found > 0]


def logarithmic(axes: Axes) -> None:
    """A logarithmic vertical scale labelled in plain numbers, also where it spans less than a decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FewDecades(subs=(1, 2, 5), numticks=7))
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())


def percent(axes: Axes) -> None:
    """Shares on the vertical scale written as percentages."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.5g}%"))
