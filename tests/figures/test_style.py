"""What a reader can read off the axes and titles."""

import pytest
from matplotlib.figure import Figure

from descent.figures.parts import scales, style


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.45, 1.05, ["0.6", "0.8", "1"]),
        (0.1, 9, ["0.1", "0.2", "0.5", "1", "2", "5", "10"]),
        (2e-4, 10, ["0.001", "0.01", "0.1", "1", "10"]),
        (1e-8, 5.0, ["1e-08", "1e-06", "0.0001", "0.01", "1"]),
    ],
    ids=["less than a decade", "two decades", "five decades", "nine decades"],
)
def test_a_logarithmic_scale_has_several_labels_in_plain_numbers(
    low: float, high: float, expected: list[str]
) -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [low, high])
    scales.logarithmic(axes)
    figure.draw_without_rendering()
    bottom, top = axes.get_ylim()
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    assert [label.get_text() for value, label in ticks if bottom <= value <= top] == expected


def test_a_title_breaks_between_words_and_a_long_name_behind_a_part_of_it() -> None:
    assert style.wrapped("DUST, one dictionary, UCSD") == "DUST, one dictionary,\nUCSD"
    assert style.wrapped("Alpaca, study controls_causal_lm_deeper") == "Alpaca, study controls_\ncausal_lm_deeper"
