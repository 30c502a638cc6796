"""Arms in figures: each has a look of its own, everywhere the same, and none is left out."""

from matplotlib.colors import to_hex

from descent.config import Params
from descent.figures.parts import style
from tests.fakes.drawn import drawn, line
from tests.fakes.results import fake_params


def test_arms_differ_in_dash_and_colour_in_every_panel(params: Params) -> None:
    for axes in drawn("fig02_video_robustness").axes[:-3]:  # less the row of differences
        curves = [line(axes, style.name(arm)) for arm in params.arms]
        assert len({one.get_color() for one in curves}) == len(params.arms) == 3
        assert len({str(one._unscaled_dash_pattern) for one in curves}) == 3


def test_looks_follow_the_order_of_the_arms_and_names_their_labels() -> None:
    style.use(fake_params(arms=["deep_supervision", "constrained", "unconstrained"]))
    assert [style.color(arm) for arm in ("deep_supervision", "constrained")] == list(style.PALETTE[:2])
    assert (style.dashes("deep_supervision"), style.name("deep_supervision")) == ("-", "deep supervision")
    style.use(fake_params(arms=["unconstrained", "constrained"]))
    assert style.color("deep_supervision") == style.PALETTE[2], "an arm that only a study shows has a look as well"
    assert style.color("tv_chambolle") == style.GREY and style.name("tv_chambolle") == "total variation"


def test_no_arm_has_the_colour_of_the_compared_two_or_another_arms_look() -> None:
    more = {f"components.arms.arm{n}": {"LABEL": f"arm {n}", "ENFORCES": False} for n in range(12)}
    params = fake_params(more | {"studies": ["alpha"], "study.alpha.beside": ["replay_positive"]})
    style.use(params)
    looks = {arm: (style.color(arm), str(style.dashes(arm))) for arm in params.components["arms"]}
    assert len(set(looks.values())) == len(looks) > len(style.PALETTE)
    taken = [arm for arm, (color, _) in looks.items() if color in style.PALETTE[:2]]
    assert taken == list(params.arms[:2])
    assert style.color("replay_positive") == style.PALETTE[len(params.arms)], "what a study shows comes first"


def test_the_third_arm_is_drawn() -> None:
    everywhere = ["fig01_layerwise_descent", "fig02_video_robustness", "fig03_depth", "fig04_text_robustness"]
    everywhere += ["fig06_causal_lm", "fig07_video_descent", "fig13_all_descents"]
    for name in everywhere:
        colors = {to_hex(curve.get_color()).upper() for axes in drawn(name).axes for curve in axes.lines}
        assert style.color("deep_supervision") in colors, name
