"""Figures of the made-up results, and what can be read off one."""

from functools import cache

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.figures.parts import catalogue, drawing
from tests.fakes.results import fake_params, fake_results


@cache
def drawn(name: str) -> Figure:
    """A figure of the made-up results as they are, drawn once for all who look at it."""
    return drawing.shown(catalogue.module(name), fake_results(fake_params()), fake_params())


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def line(axes: Axes, label: str):
    return next(line for line in axes.lines if line.get_label() == label)
