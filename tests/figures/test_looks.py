"""Pictures of single inputs: every picture and word is shown, what is missing is told, nothing is published."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import (
    fig_attention,
    fig_confidence,
    fig_dictionary,
    fig_early_exit,
    fig_frames,
    fig_lens,
)
from descent.figures.parts import catalogue, looks, style
from descent.paths import LOOKS
from descent.published import run_folder
from stages import publish
from tests.fakes.looks import ATOMS, SIZE, write_looks
from tests.fakes.results import change, fake_params, fake_results

PARAMS = fake_params()
RESULTS = fake_results(PARAMS)
OF_INPUTS = (fig_attention, fig_confidence, fig_dictionary, fig_frames, fig_lens)
OURS, BASELINE = PARAMS.comparison.arms


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_looks(PARAMS)


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text) if text.get_visible())


def pictures(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(image.get_array()) for axes in figure.axes for image in axes.images]


def test_frames_show_every_layer_of_both_arms_with_its_psnr() -> None:
    figure = fig_frames.render(RESULTS, PARAMS)
    shown, text = pictures(figure), words(figure)
    layers, datasets = max(PARAMS.model_budget("dust")["layers"]), PARAMS.video.datasets
    assert len(shown) == len(datasets) * 2 * (2 + 2 * (layers + 1) + 2)
    assert {picture.shape for picture in shown} == {(SIZE, SIZE)}
    for arm in (OURS, BASELINE, "tv_chambolle", "nl_means"):
        own = looks.arrays("ucsd", "dust", arm)
        assert all(f"{value:.1f}" in text for value in own["psnr"].flat)
        for picture in own["pictures"].reshape(-1, SIZE, SIZE):
            assert any(np.array_equal(picture, other) for other in shown)
    assert r"$\gamma=0.13$" in text and r"$\gamma=0.6$" in text


def test_an_arm_that_diverged_is_told() -> None:
    for dataset in PARAMS.video.datasets:
        (LOOKS / dataset / "dust" / f"{OURS}.npz").unlink()
    assert words(fig_frames.render(RESULTS, PARAMS)).count("constrained: diverged") == 6
    assert OURS not in words(fig_dictionary.render(RESULTS, PARAMS)).split("\n")[0]
    for name in (OURS, BASELINE):
        (LOOKS / "alpaca/causal_lm" / f"{name}.json").unlink()
    assert "diverged" in words(fig_lens.render(RESULTS, PARAMS))


def test_without_the_arrays_the_stage_that_makes_them_is_named() -> None:
    (LOOKS / "ucsd").rename(LOOKS / "elsewhere")
    with pytest.raises(UserError, match=r"ucsd/dust is missing: run `dvc repro` \(stage collect"):
        fig_frames.render(RESULTS, PARAMS)


def test_dictionaries_stand_before_and_after_and_as_their_difference() -> None:
    shown = pictures(fig_dictionary.render(RESULTS, PARAMS))
    assert len(shown) == 3 * 3 * ATOMS, "D_1 and D_L of one arm, the only one of the other"
    [before, after] = looks.arrays("ucsd", "dust", OURS)["atoms"][0]
    for place in range(ATOMS):
        np.testing.assert_array_equal(shown[place], before[place])
        np.testing.assert_allclose(shown[2 * ATOMS + place], after[place] - before[place])
    frames_alone = fake_params({"video.models": ["vit"]})
    assert "has no dictionaries" in words(fig_dictionary.render(RESULTS, frames_alone))
    assert "attends over the patches" in words(fig_attention.render(RESULTS, frames_alone))


def test_attention_is_shown_of_every_model_that_has_it() -> None:
    text = words(fig_attention.render(RESULTS, PARAMS))
    assert "UT\nconstrained" in text and "DUST\nunconstrained" in text and "ViT" not in text


def test_tokens_mixed_are_counted_by_entropy() -> None:
    assert fig_attention.mixed(np.eye(4)) == pytest.approx(1)
    assert fig_attention.mixed(np.full((4, 4), 0.25)) == pytest.approx(4)
    assert fig_attention.mixed(np.array([[0.5, 0.5], [1.0, 0.0]])) == pytest.approx(1.5)


def test_words_of_texts_are_printable_and_within_the_sheet() -> None:
    assert looks.printed("a $5\n価 \u0001") == r"a \$5 ·" + " ·"
    assert [fig_lens.shown(token) for token in (" costs", " ", "a very long word")] == ["costs", "␣", "a very l…"]
    figure = fig_confidence.render(RESULTS, PARAMS)
    figure.draw_without_rendering()
    written = [text for axes in figure.axes for text in axes.texts]
    assert "IMDb: negative" in [text.get_text() for text in written]
    for text in written:
        assert text.get_window_extent().x1 <= figure.bbox.width
        assert text.get_text().count("\n") < fig_confidence.LINES


def test_hollow_points_are_the_layers_that_say_another_class() -> None:
    own = json.loads((LOOKS / "imdb/roberta" / f"{OURS}.json").read_text())[0]
    figure = fig_confidence.render(RESULTS, PARAMS)
    points = [
        line
        for line in figure.axes[1].lines
        if len(line.get_xdata()) == 1 and line.get_color() == style.color(OURS)
    ]
    for line, layer in zip(points, own["probabilities"], strict=True):
        assert line.get_ydata()[0] == pytest.approx(layer[own["label"]])
        assert (line.get_markerfacecolor() == "white") == (max(layer) != layer[own["label"]])


def test_the_lens_prints_the_response_in_bold() -> None:
    figure = fig_lens.render(RESULTS, PARAMS)
    for axes in figure.axes:
        bold = {text.get_text() for text in axes.texts if text.get_weight() == "bold"}
        assert bold == {"It"} and [label.get_text() for label in axes.get_xticklabels()][2] == "␣"


@pytest.mark.parametrize(
    ("numbers", "accuracy", "layer"),
    [((9.0, 5.0, 4.1, 4.0), False, 2), ((4.1, 9.0, 5.0, 4.0), False, 3), ((0.5, 0.79, 0.9, 0.8), True, 1)],
)
def test_the_first_layer_near_the_last_stays_near(numbers: tuple[float, ...], accuracy: bool, layer: int) -> None:
    tolerance = 0.011 if accuracy else 0.05
    assert fig_early_exit.first_near(pd.Series(numbers), tolerance, accuracy).to_dict() == {layer: numbers[layer]}


@pytest.mark.slow
def test_early_exits_are_of_every_model_and_of_the_controls() -> None:
    names = [(panel.model, panel.eps) for panel in fig_early_exit.panels(PARAMS)]
    every = [(model, eps) for eps in (PARAMS.eps, 0.0) for model in PARAMS.video.models]
    every += [(model, eps) for eps in (PARAMS.text.eps, 0.0) for model in PARAMS.text.models]
    every += [(model, PARAMS.lm.eps) for model in PARAMS.lm.models]
    assert names == every, "no study of several arms is in use, and the language model's grid is never noise-free"
    controls = fake_params({"studies": ["controls"], "video.models": ["ut", "dust_per_layer"]})
    last = fig_early_exit.panels(controls)[-1]
    assert last.experiment == "controls" and {"penalty", "replay", OURS, BASELINE} <= set(last.arms)
    results = RESULTS.copy()
    change(
        results,
        12.5,
        experiment="video",
        model="ut",
        dataset="ucsd",
        arm=OURS,
        layers=5,
        layer=2,
        eps=PARAMS.eps,
        metric="rmse_layer",
    )
    ours = {"experiment": "video", "model": "ut", "dataset": "ucsd", "arm": OURS, "layers": 5, "eps": PARAMS.eps}
    last = select(results, **ours, metric="rmse_layer", layer=5, split="test")
    further = [last.assign(metric="rmse_further", layer=layer, value=20.0 - layer) for layer in (5, 6, 7)]
    drawn = fig_early_exit.render(pd.concat([results, *further]), PARAMS).axes
    axes, plain = drawn[0], drawn[len(PARAMS.video.models)]
    dotted = {tuple(line.get_ydata()): line.get_color() for line in axes.lines if line.get_linestyle() == ":"}
    assert dotted[15.0, 14.0, 13.0] == style.color(OURS)
    assert plain.get_title() == f"{axes.get_title()}\n$\\epsilon$ = 0"
    [line] = [line for line in axes.lines if line.get_label().startswith(style.name(OURS))]
    assert line.get_ydata()[2] == 12.5


def test_an_early_exit_of_a_search_is_that_of_its_best_trial() -> None:
    own = fake_params({"video.datasets": [], "lm.datasets": [], "studies": [], "text.models": ["ut_text"]})
    results, deepest = fake_results(own), max(own.model_budget("ut_text")["layers"])
    trial = {
        "experiment": "text",
        "dataset": "imdb",
        "arm": OURS,
        "layers": deepest,
        "eps": own.text.eps,
        "seed": 2,
    }
    change(results, 0.001, **trial, metric="validation_loss", layer=deepest)
    change(results, 0.125, **trial, metric="accuracy", layer=2)
    axes = fig_early_exit.render(results, own).axes[0]
    [line] = [line for line in axes.lines if line.get_label().startswith(style.name(OURS))]
    assert line.get_ydata()[2] == 0.125


@pytest.mark.parametrize("entry", OF_INPUTS, ids=lambda entry: entry.__name__.rsplit(".")[-1])
def test_what_shows_single_inputs_is_never_published(entry: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert entry.SINGLE_INPUTS is True
    for name in (catalogue.name(entry), "fig03_depth"):
        own = catalogue.module(name)
        files = [Path("figures") / catalogue.part(own) / f"{name}.png"]
        files[0].parent.mkdir(parents=True)
        style.save(style.empty("a sheet"), files[0])
        catalogue.write_sidecar(catalogue.sidecar(own, PARAMS), files)
    assert [file.name for file in run_folder.pictures(PARAMS)] == ["fig03_depth.png"]


def test_the_readmes_pictures_show_single_inputs_of_generated_data_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in publish.PICTURES:
        file = Path("figures") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)

    def published(params: Params) -> set[str]:
        monkeypatch.setattr("descent.config.load", lambda *_: params)
        publish.main()
        found = {file.name for file in Path("data/evidence").rglob("*.png")}
        shutil.rmtree("data/evidence")
        return found

    every = {Path(name).name for name in publish.PICTURES}
    Path("figures", publish.PICTURES[-1]).rename("away")
    with pytest.raises(UserError, match=r"fig_lens.png missing: run `make repro`"):
        published(PARAMS)
    assert not [*Path("data/evidence/demo").iterdir()], "all that is shown, or nothing"
    Path("away").rename(Path("figures", publish.PICTURES[-1]))
    assert published(PARAMS) == every > {"fig_frames.png", "fig_lens.png"}
    filmed = fake_params({"profiles.demo.data.ucsd": {"path": "ucsd"}})  # one real set among three
    assert published(filmed) == every - {"fig_frames.png"}
    written = fake_params({"profiles.demo.data.alpaca": {"path": "alpaca"}})
    assert published(written) == every - {"fig_lens.png"}
