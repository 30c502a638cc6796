"""What became of claims, in words: a reason that keeps several back is read once."""

import pandas as pd

from descent.analysis.sensitivity import ALONE, TRIMMED
from descent.analysis.verdicts import CANNOT_TELL, NOT_TESTED
from descent.published import judged
from tests.fakes.evidence import real_params


def test_a_reason_stands_once_with_all_claims_that_it_keeps_back() -> None:
    card = pd.DataFrame(
        [
            ("Gain.", NOT_TESTED, "dust on ucsd: still learning"),
            ("Told.", CANNOT_TELL, ""),
            ("Text.", NOT_TESTED, "nothing to compare"),
            ("Price.", NOT_TESTED, "dust on ucsd: still learning"),
        ],
        columns=["statement", "verdict", "why"],
    )
    assert judged.untested(card, real_params()).splitlines()[2:] == [
        "| DUST on UCSD: still learning | Gain.; Price. |",
        "| nothing to compare | Text. |",
    ]
    assert judged.untested(card[card["verdict"] != NOT_TESTED], real_params()) == ""


def test_what_keeps_a_model_out_of_a_second_claim_too_is_referred_to() -> None:
    card = pd.DataFrame({"claim": ["ood", "cost"], "statement": ["Gain.", "Price."]})
    number = {"unit": "percent", "estimate": 0.02, "low": 0.01, "high": 0.03}
    rows = [
        {"claim": claim, "model": model, "datasets": "ucsd", "why": why, **number}
        for claim in ("ood", "cost")
        for model, why in (("ut", "ut is still learning"), ("dust", ""), ("dust_shared", f"of {claim} alone"))
    ]
    told = judged.models_alone(card, pd.DataFrame(rows), real_params()).splitlines()[2:]
    assert [line.split(" | ")[-1].removesuffix(" |").strip() for line in told] == [
        "UT is still learning",
        "",
        "of ood alone",
        judged.SAME,
        "",
        "of cost alone",
    ]


def test_settings_that_lie_on_both_sides_of_zero_are_named_one_by_one() -> None:
    claims = ("ood", "cost", "untested")
    card = pd.DataFrame({"claim": claims, "statement": [f"{name}." for name in claims], "unit": "percent"})
    card["verdict"] = [CANNOT_TELL, CANNOT_TELL, NOT_TESTED]
    rows = [
        {
            "claim": claim,
            "average": ALONE,
            "dataset": "ucsd",
            "model": "ut",
            "layers": layers,
            "estimate": estimate,
        }
        for claim in claims
        for layers, estimate in ((3.0, 0.012), (5.0, 0.001), (7.0, -0.04 if claim != "cost" else 0.04))
    ]
    found = pd.DataFrame(rows)
    found = found.assign(low=found["estimate"] - 0.01, high=found["estimate"] + 0.01)
    mean = found[:1].assign(average=TRIMMED, estimate=-0.009, low=-0.02, high=0.002)
    told = judged.apart(card, pd.concat([found, mean]), real_params())
    assert told.endswith("*ood.*: UT on UCSD 1.2 / 0.1 / -4 % (L = 3 / 5 / 7).")
    assert told.count(" *") == 1, "neither the price, which is one everywhere, nor what was not tested"
    assert judged.apart(card, found[found["layers"] < 7], real_params()) == ""


def test_the_depths_of_a_gain_whose_settings_disagree_stand_in_a_line_with_the_price() -> None:
    card = pd.DataFrame({"claim": ["video_ood", "video_cost"], "unit": "percent", "verdict": CANNOT_TELL})
    gains = {("ucsd", 3): 0.012, ("avenue", 3): 0.004, ("ucsd", 7): -0.04, ("avenue", 7): -0.126}
    rows = [
        {"claim": claim, "average": ALONE, "dataset": dataset, "layers": float(layers), "estimate": sign * gain}
        for claim, sign in (("video_ood", 1), ("video_cost", -2))
        for (dataset, layers), gain in gains.items()
    ]
    found = pd.DataFrame(rows)
    found = found.assign(low=found["estimate"] - 0.002, high=found["estimate"] + 0.002)
    told = judged.by_depth(card, found)
    assert told.endswith(
        ": 0.4 to 1.2 / -12.6 to -4.0 % (L = 3 / 7), at a price of -2.4 to -0.8 / 8.0 to 25.2 % (L = 3 / 7)."
    )
    assert judged.by_depth(card[:1], found).endswith("-4.0 % (L = 3 / 7)."), "no price that was tested"
    assert judged.by_depth(card, found[found["layers"] == 3]) == "", "all are better"
    assert judged.by_depth(card.assign(verdict=NOT_TESTED), found) == ""
