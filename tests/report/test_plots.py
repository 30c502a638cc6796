"""What `dvc plots` draws: the tracked arm's curves, templates that compile, a page that needs no network."""

import json
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import vl_convert
from dvc_render.html import HTML
from dvc_render.vega import VegaRenderer

from descent.analysis.summary import best_depth, cells_table, select
from descent.analysis.trials import best_text
from descent.errors import UserError
from descent.report import plots, plots_page
from tests.fakes.results import fake_params, fake_results

TEMPLATES = Path(__file__).parent.parent / ".dvc/plots"
AXES = {
    "rmse_vs_gamma": ("gamma", "rmse"),
    "loss_per_layer": ("layer", "loss"),
    "accuracy_vs_gamma": ("gamma", "accuracy"),
    "text_loss_per_layer": ("layer", "loss"),
}
WORDS = {"rmse_vs_gamma": {"UT", "DUST", "ViT", "UCSD"}, "accuracy_vs_gamma": {"UT", "RoBERTa", "IMDb", "MNLI"}}
WORDS |= {"loss_per_layer": WORDS["rmse_vs_gamma"], "text_loss_per_layer": WORDS["accuracy_vs_gamma"]}


@cache
def arm(method: str) -> dict[str, pd.DataFrame]:
    params = fake_params(method=method)
    return plots.curves(fake_results(params), params)


@pytest.mark.parametrize("method", ["constrained", "unconstrained"])
def test_curves_are_those_of_the_tracked_arm_at_its_best_depth(method: str) -> None:
    params = fake_params(method=method)
    results = fake_results(params)
    curves = plots.curves(results, params)
    assert {stem: list(table.columns) for stem, table in curves.items()} == plots.CURVES
    best = best_depth(cells_table(results, params))
    for choice in select(best, method=method, eps=0.13).itertuples():
        cell = {"dataset": choice.dataset, "model": choice.model}
        source = select(
            results, **cell, method=method, eps=0.13, layers=choice.layers, split="test", experiment="video"
        )
        drawn = select(curves["rmse_vs_gamma"], **cell)
        assert drawn["rmse"].tolist() == pytest.approx(select(source, metric="rmse")["value"].tolist())
        losses = select(curves["loss_per_layer"], **cell)
        assert losses["loss"].tolist() == pytest.approx(
            select(source, metric="loss", gamma=0.13)["value"].tolist()
        )
        assert losses["layer"].tolist() == list(range(choice.layers + 1))
    assert all(set(table["method"]) == {method} for table in curves.values())
    assert len(curves["rmse_vs_gamma"][["dataset", "model"]].drop_duplicates()) == 9


def test_text_curves_are_those_of_the_trial_with_the_lowest_validation_loss() -> None:
    params = fake_params()
    results = fake_results(params)
    drawn = plots.curves(results, params)
    for choice in select(best_text(cells_table(results, params)), method="constrained", eps=0.4).itertuples():
        where = {"dataset": choice.dataset, "model": choice.model, "method": "constrained"}
        cell = where | {
            "experiment": "text",
            "layers": choice.layers,
            "seed": choice.seed,
            "eps": 0.4,
            "split": "test",
        }
        accuracy = select(results, **cell, metric="accuracy", layer=choice.layers)
        assert select(drawn["accuracy_vs_gamma"], **where)["accuracy"].tolist() == accuracy["value"].tolist()
        losses = select(results, **cell, metric="loss", gamma=0.4)["value"].tolist()
        assert select(drawn["text_loss_per_layer"], **where)["loss"].tolist() == losses
    assert len(drawn["accuracy_vs_gamma"][["dataset", "model"]].drop_duplicates()) == 6


def test_an_arm_without_results_is_told() -> None:
    params = fake_params(method="unconstrained")
    results = fake_results(params)
    with pytest.raises(UserError, match=r"no video results of method 'unconstrained' at eps 0.13"):
        plots.curves(results[results["method"] != "unconstrained"], params)
    video = results[(results["method"] != "unconstrained") | (results["experiment"] == "video")]
    with pytest.raises(UserError, match=r"no text results of method 'unconstrained' at eps 0.4"):
        plots.curves(video, params)


def renderer(stem: str) -> VegaRenderer:
    """DVC's own renderer of two revisions that track one arm each."""
    rows = []
    for revision in ("constrained", "unconstrained"):
        table = arm(revision)[stem].astype(str)  # DVC reads CSV cells as text
        rows += [row | {"rev": revision} for row in table.to_dict("records")]
    x, y = AXES[stem]
    named = {"x": x, "y": y, "title": "a title", "x_label": "across", "y_label": "up"}
    return VegaRenderer(rows, stem, template=stem, template_dir=str(TEMPLATES), **named)


@pytest.mark.parametrize("stem", AXES)
def test_dvc_fills_the_template_and_it_compiles(stem: str) -> None:
    template = json.loads((TEMPLATES / f"{stem}.json").read_text())
    assert template["data"]["values"] == "<DVC_METRIC_DATA>"
    filled = json.dumps(renderer(stem).get_filled_template())
    assert "<DVC_METRIC" not in filled
    svg = vl_convert.vegalite_to_svg(json.loads(filled))
    words = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert {"a title", "across", "up", "constrained", "unconstrained"} | WORDS[stem] <= words
    pairs = 6 if "text" in stem or "accuracy" in stem else 9  # text: 3 models x 2 data sets, video: 3 x 3
    assert len(re.findall(r'aria-roledescription="line mark"', svg)) == 2 * pairs  # revisions
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
