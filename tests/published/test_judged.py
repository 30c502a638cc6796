"""What became of claims, in words: a reason that keeps several back is read once."""

import pandas as pd

from descent.analysis.sensitivity import ALONE, MEAN
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
    told = judged.models_alone(card, pd.DataFrame(rows), real_params())
    assert told.index("*Gain.*") < told.index("*Price.*")
    lines = [line for line in told.splitlines() if "| 2.0 % (1.0 to 3.0) |" in line]
    assert [line.split(" | ")[-1].removesuffix(" |").strip() for line in lines] == [
        "",  # a model that a claim rests on before those that are left out of it
        "UT is still learning",
        "of ood alone",
        "",
        judged.SAME,
        "of cost alone",
    ]


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
    mean = found[:1].assign(average=MEAN, estimate=-0.0375)
    assert "-4.0 % (L = 3 / 7), untrimmed -3.8 %, at a price" in judged.by_depth(card, pd.concat([found, mean]))
    assert judged.by_depth(card, found[found["layers"] == 3]) == "", "all are better"
    assert judged.by_depth(card.assign(verdict=NOT_TESTED), found) == ""
