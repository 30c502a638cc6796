"""The curves to explore: all arms' numbers, and a specification that draws them."""

import json

import pandas as pd
import pytest
import vl_convert

from descent.config import Params
from descent.figures.parts import style
from descent.report import explore, plots_page
from descent.report import page as report
from tests.fakes.results import fake_params, fake_results
from tests.report.test_plots import curves_of


@pytest.fixture(scope="module")
def drawn(params: Params) -> dict:
    style.use(params)
    return explore.curves(fake_results(params), params)


@pytest.mark.slow
def test_every_arm_in_use_has_the_curves_of_dvc_plots(params: Params, drawn: dict) -> None:
    assert [arm["name"] for arm in drawn["arms"]] == ["constrained", "unconstrained", "deep supervision"]
    assert [arm["color"] for arm in drawn["arms"]] == [style.color(arm) for arm in params.arms]
    rmse = drawn["curves"][0]
    assert rmse["title"] == "Video: RMSE against test noise level γ" and len(drawn["curves"]) == 6  # noqa: RUF001
    alone = curves_of(fake_results(params), params, "unconstrained")["rmse_vs_gamma"]
    own = [row for row in rmse["rows"] if row[0] == "unconstrained"]
    assert own == alone[[*explore.ROWS, "gamma", "rmse"]].to_numpy().tolist()
    dashes = [tuple(each["dash"]) for each in drawn["datasets"][:3]]
    assert dashes[0] == () and len(set(dashes)) == 3


def test_what_is_left_out_has_no_curves() -> None:
    few = fake_params({"text.datasets": [], "lm.models": [], "studies": []})
    drawn = explore.curves(fake_results(few), few)
    assert [curve["title"].split(":")[0] for curve in drawn["curves"]] == ["Video", "Video"]
    assert [each["name"] for each in drawn["datasets"]] == ["Avenue", "UCSD", "ShanghaiTech"]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_specification_draws_the_arms_in_their_colours(drawn: dict, scale: str) -> None:
    spec = explore.specification(drawn)
    rows = pd.DataFrame(drawn["curves"][0]["rows"], columns=[*explore.ROWS, "x", "value"])
    spec["data"]["values"] = rows[rows["model"] == "UT"].to_dict("records")
    for layer in (spec["layer"][0], spec["layer"][2]):
        layer["encoding"]["y"]["scale"] = {"type": scale}
    picture = vl_convert.vegalite_to_svg(spec | {"width": 300})
    assert all(f'stroke="{arm["color"]}"' in picture for arm in drawn["arms"])
    at_zero = picture.count('role="graphics-symbol" aria-roledescription="point"')
    assert at_zero == len(drawn["arms"]) * 3, "a point for each arm and data set at the readout's place, x = 0"


def test_data_cannot_end_their_script() -> None:
    told = {"curves": ["</script><b>"]}
    written = report.data(told)
    assert "<" not in written and json.loads(written) == told


def test_the_library_that_dvc_plots_brings_has_what_the_page_calls() -> None:
    assert "vegaEmbed" in plots_page.library() and "</script" not in plots_page.library().lower()
