"""What `dvc plots` draws: the tracked arm's curves, templates that compile, a page that needs no network."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import vl_convert
from dvc_render.html import HTML
from dvc_render.vega import VegaRenderer

from descent.analysis.select import TRAINED, select
from descent.analysis.summary import best_depth, cells_table
from descent.analysis.trials import best_text
from descent.config import Params
from descent.errors import UserError
from descent.report import plots, plots_page
from tests.fakes.results import change, fake_params, fake_results
from tests.fakes.results_training import EPOCHS, with_training

TEMPLATES = Path(__file__).parents[2] / ".dvc/plots"
AXES = {
    "rmse_vs_gamma": ("gamma", "rmse"),
    "loss_per_layer": ("layer", "loss"),
    "loss_vs_epoch": ("epoch", "loss"),
    "accuracy_vs_gamma": ("gamma", "accuracy"),
    "text_loss_per_layer": ("layer", "loss"),
    "text_loss_vs_epoch": ("epoch", "loss"),
    "lm_accuracy_vs_gamma": ("gamma", "accuracy"),
    "lm_loss_per_layer": ("layer", "loss"),
    "lm_loss_vs_epoch": ("epoch", "loss"),
}
WORDS = {"rmse_vs_gamma": {"UT", "DUST", "ViT", "UCSD"}, "accuracy_vs_gamma": {"UT", "RoBERTa", "IMDb", "MNLI"}}
WORDS |= {stem: WORDS["rmse_vs_gamma"] for stem in ("loss_per_layer", "loss_vs_epoch")}
WORDS |= {stem: WORDS["accuracy_vs_gamma"] for stem in ("text_loss_per_layer", "text_loss_vs_epoch")}
WORDS |= {stem: {"causal language model", "Alpaca"} for stem in AXES if stem.startswith("lm_")}
PANELS = {"video": 9, "text": 6, "lm": 1}  # models x data sets


@cache
def results_with_epochs() -> pd.DataFrame:
    results = fake_results(fake_params())
    headlines = results[(results["eps"] - 0.13).abs().lt(1e-9) | results["experiment"].ne("video")]
    return with_training(headlines, fake_params())


@cache
def arm(method: str) -> dict[str, pd.DataFrame]:
    return curves_of(results_with_epochs(), fake_params(method=method), method)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["constrained", "unconstrained"])
def test_curves_are_those_of_the_tracked_arm_at_its_best_depth(method: str) -> None:
    params = fake_params(method=method)
    results, curves = results_with_epochs(), arm(method)
    assert set(curves) == set(AXES)
    assert all(list(curves[stem].columns) == [*plots.COLUMNS, *axes] for stem, axes in AXES.items())
    best = best_depth(cells_table(results, params))
    for choice in select(best, arm=method, eps=0.13).itertuples():
        cell = {"dataset": choice.dataset, "model": choice.model, "layers": choice.layers}
        source = select(results, **cell, arm=method, eps=0.13, split="test", experiment="video", shift=TRAINED)
        words, cell = cell, labels(params, "video", cell)
        drawn = select(curves["rmse_vs_gamma"], **cell)
        assert drawn["rmse"].tolist() == pytest.approx(select(source, metric="rmse")["value"].tolist())
        losses = select(curves["loss_per_layer"], **cell)
        assert losses["loss"].tolist() == pytest.approx(
            select(source, metric="loss", gamma=0.13)["value"].tolist()
        )
        assert losses["layer"].tolist() == list(range(choice.layers + 1))
        trained = select(results, **words, arm=method, eps=0.13, metric="loss_epoch", layer=choice.layers, seed=0)
        epochs = select(curves["loss_vs_epoch"], **cell)
        assert epochs["loss"].tolist() == trained.sort_values("bin")["value"].tolist()
        assert epochs["epoch"].tolist() == list(range(1, EPOCHS + 1))
    for table in curves.values():
        assert set(table["arm"]) == {method} and set(table["order"]) == {params.arms.index(method)}
    assert len(curves["rmse_vs_gamma"][["dataset", "model"]].drop_duplicates()) == 9


def curves_of(results: pd.DataFrame, params: Params, arm: str) -> dict[str, pd.DataFrame]:
    """What is drawn of an arm, as the stage has it."""
    return plots.curves(results, cells_table(results, params), params, arm)


def test_text_curves_are_those_of_the_trial_with_the_lowest_validation_loss() -> None:
    params = fake_params()
    results = fake_results(params)
    drawn = curves_of(results, params, params.method)
    for choice in select(best_text(cells_table(results, params), params), arm="constrained", eps=0.4).itertuples():
        where = {"dataset": choice.dataset, "model": choice.model, "layers": choice.layers, "arm": "constrained"}
        cell = where | {"experiment": "text", "seed": choice.seed, "eps": 0.4, "split": "test"}
        where = labels(params, "text", where)
        accuracy = select(results, **cell, metric="accuracy", layer=choice.layers, shift=TRAINED)
        assert select(drawn["accuracy_vs_gamma"], **where)["accuracy"].tolist() == accuracy["value"].tolist()
        losses = select(results, **cell, metric="loss", gamma=0.4)["value"].tolist()
        assert select(drawn["text_loss_per_layer"], **where)["loss"].tolist() == losses
    assert len(drawn["accuracy_vs_gamma"][["dataset", "model"]].drop_duplicates()) == 6


def test_text_curves_of_seeds_that_repeat_one_training_are_their_means() -> None:
    params = fake_params({"text.search.arms": {}})
    results = fake_results(params)
    drawn = curves_of(results, params, params.method)["accuracy_vs_gamma"]
    choice = select(best_text(cells_table(results, params), params), arm="constrained", eps=0.4).iloc[0]
    where = {"dataset": choice.dataset, "model": choice.model, "layers": choice.layers, "arm": "constrained"}
    rows = select(results, **where, experiment="text", eps=0.4, split="test", metric="accuracy", shift=TRAINED)
    rows = select(rows, layer=choice.layers).pivot(index="gamma", columns="seed", values="value")
    found = select(drawn, **labels(params, "text", where))["accuracy"]
    np.testing.assert_allclose(found, rows.mean(axis=1))
    assert rows.shape[1] > 1 and not np.allclose(found, rows[choice.seed])


def test_an_arm_without_results_is_told() -> None:
    params = fake_params(method="unconstrained")
    results = fake_results(params)
    with pytest.raises(UserError, match=r"no video results of arm 'unconstrained' at eps 0.13"):
        curves_of(results[results["arm"] != "unconstrained"], params, params.method)
    video = results[(results["arm"] != "unconstrained") | (results["experiment"] == "video")]
    with pytest.raises(UserError, match=r"no text results of arm 'unconstrained' at eps 0.4"):
        curves_of(video, params, params.method)


def test_what_is_left_out_has_a_header_and_no_rows() -> None:
    params = fake_params({"video.datasets": [], "lm.models": [], "studies": []})
    drawn = curves_of(fake_results(params), params, params.method)
    assert {stem for stem, table in drawn.items() if len(table)} == {"accuracy_vs_gamma", "text_loss_per_layer"}
    assert all(list(drawn[stem].columns) == [*plots.COLUMNS, *axes] for stem, axes in AXES.items())


def test_of_several_seeds_of_the_language_model_the_mean_is_drawn() -> None:
    params = fake_params({"profiles.demo.lm.seeds": [0, 1]})
    results = fake_results(params)
    where = {"experiment": "lm", "arm": "constrained", "metric": "accuracy", "gamma": 0.5, "layer": 4}
    for seed, accuracy in enumerate((0.2, 0.6)):
        change(results, accuracy, **where, seed=seed)
    drawn = curves_of(results, params, params.method)["lm_accuracy_vs_gamma"]
    assert select(drawn, gamma=0.5)["accuracy"].tolist() == [pytest.approx(0.4)]


def labels(params: Params, task: str, cell: dict) -> dict:
    """A cell's words as a reader sees them."""
    places = {"arm": "arms", "model": "models", "dataset": f"tasks.{task}.datasets"}
    shown = {key: params.components[place][cell[key]]["LABEL"] for key, place in places.items() if key in cell}
    return cell | shown


def template(stem: str) -> str:
    """The template of a plot, that of its axes for every task."""
    return "loss" if "loss" in stem else stem.removeprefix("text_").removeprefix("lm_")


def renderer(stem: str) -> VegaRenderer:
    """DVC's own renderer of two revisions that track one arm each."""
    rows = []
    for revision in ("constrained", "unconstrained"):
        table = arm(revision)[stem].astype(str)  # DVC reads CSV cells as text
        rows += [row | {"rev": revision} for row in table.to_dict("records")]
    x, y = AXES[stem]
    named = {"x": x, "y": y, "title": "a title", "x_label": "across", "y_label": "up"}
    return VegaRenderer(rows, stem, template=template(stem), template_dir=str(TEMPLATES), **named)


@pytest.mark.parametrize("stem", AXES)
def test_dvc_fills_the_template_and_it_compiles(stem: str) -> None:
    source = json.loads((TEMPLATES / f"{template(stem)}.json").read_text())
    assert source["data"]["values"] == "<DVC_METRIC_DATA>"
    filled = json.dumps(renderer(stem).get_filled_template())
    assert "<DVC_METRIC" not in filled
    svg = vl_convert.vegalite_to_svg(json.loads(filled))
    words = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert {"a title", "across", "up", "constrained", "unconstrained"} | WORDS[stem] <= words
    revisions = 2
    panels = PANELS[plots.CURVES[stem][0]]
    assert len(re.findall(r'aria-roledescription="line mark"', svg)) == revisions * panels
    colors = {"#0072B2", "#D55E00"}
    drawn = {part for part in re.findall(r'<path[^>]*aria-roledescription="line mark"[^>]*>', svg)}
    assert {color for color in colors for path in drawn if f'stroke="{color}"' in path} == colors
    dashed = {('stroke-dasharray="7,4"' in path, 'stroke="#D55E00"' in path) for path in drawn}
    assert dashed == {(True, True), (False, False)}  # the unconstrained revision and no other is dashed


def test_the_page_holds_its_library_and_dvcs_anchor() -> None:
    html = HTML(plots_page.page(vl_convert.javascript_bundle())).with_element("<div id='here'></div>").embed()
    assert "<div id='here'></div>" in html and "{plot_divs}" not in html and "{refresh_tag}" not in html
    assert html.count("</script>") == 1 and "window.vegaEmbed=" in html
    around = re.sub(r"<script>.*</script>", "", html, flags=re.DOTALL)
    assert len(around) < 2000 and not re.search("src=|href=|@import|<script", around)
