"""Every figure from a made-up results table: the same bytes twice, legible, stamped, and by its name."""

from pathlib import Path

import pytest
from matplotlib.text import Text

from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import catalogue, drawing, style
from descent.figures.video import fig02_video_robustness as fig02
from tests.fakes.drawn import drawn
from tests.fakes.results import fake_params, fake_results

# Figure 16 shows texts: test_lm_figures has tests of its own for it.
ONES = ("fig16_completions", "fig_attention", "fig_confidence", "fig_dictionary", "fig_frames", "fig_lens")
FIGURES = [name for name in catalogue.names() if name.startswith("fig") and name not in ONES]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig02_video_robustness", "fig12_layer_ratios", "fig_theory"])
def test_a_figure_renders_twice_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    few = fake_params({"video.datasets": ["ucsd"], "video.models": ["ut", "dust"], "text.datasets": ["imdb"]})
    entry, results = catalogue.module(name), fake_results(few)
    for place in ("first", "second"):
        figure = entry.render(results, few)
        for ending in ("pdf", "png"):
            style.save(figure, tmp_path / f"{place}.{ending}")
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert (tmp_path / "first.png").stat().st_size < 400_000
    assert sum(len(axes.lines) for axes in figure.axes) >= 4


@pytest.mark.parametrize("name", FIGURES)
def test_words_are_legible_and_synthetic_data_named(name: str) -> None:
    figure = drawn(name)
    written = [text for text in figure.findobj(Text) if text.get_text()]
    assert min(text.get_fontsize() for text in written) >= 7
    assert "demo: synthetic data" in [text.get_text() for text in written]
    assert figure.get_figwidth() in (style.COLUMN, style.TEXT)


def test_real_data_carry_no_stamp(params: Params) -> None:
    real = fake_params({"profile": "small", "video.models": ["ut"], "text.datasets": []})
    figure = drawing.shown(fig02, fake_results(real), real)
    assert not [text for text in figure.findobj(Text) if "synthetic" in text.get_text()]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_its_rows_names_the_stage(name: str, results, params: Params) -> None:
    with pytest.raises(UserError, match="stage evaluate_"):
        catalogue.module(name).render(results.iloc[:0], params)


def test_the_stamp_follows_the_data_that_a_figure_shows(params: Params) -> None:
    real_texts = fake_params({f"profiles.demo.data.{name}": {"path": name} for name in params.text.datasets})
    assert style.synthetic(real_texts, ("video",)) and not style.synthetic(real_texts, ("text",))
    for name, expected in (("fig02_video_robustness", True), ("fig04_text_robustness", False)):
        assert catalogue.sidecar(catalogue.module(name), real_texts)["synthetic"] is expected
    assert style.synthetic(real_texts, ("video", "text"))


def test_names_are_found_in_the_folder_and_an_unknown_one_lists_them() -> None:
    assert catalogue.module("fig03_depth").TITLE
    with pytest.raises(
        UserError,
        match=r"no figure or table 'fig99'; known: fig01_layerwise_descent, fig02_video_robustness, fig03_depth",
    ):
        catalogue.module("fig99")
    with pytest.raises(UserError, match="no part 'parts'; known: beyond, lm, text, video"):
        catalogue.names("parts")
