"""What counts as an effect, and the paper's own numbers worked out again."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis.claims import CLAIMS, paper_value

EFFECTS = {  # PROTOCOL.md, 2; of the claims that it does not name as the head of claims.py says
    0.9: ["descent_video", "descent_text"],
    0.5: ["no_descent_video", "no_descent_text", "video_wins", "text_wins"],
    0.05: ["sample_share", "sample_mean", "sample_median"],
    0.02: ["alpha_ood"],
    0.015: ["video_cost", "video_cost_paper", "video_cost_vit"],
    0.01: [
        *("video_ood", "video_ood_paper", "video_ood_vit", "video_depth", "video_shifts"),
        *("text_ood", "text_shifts", "text_size", "dual_lr", "lm_ood", "lm_shifts"),
    ],
    0.005: ["text_cost", "lm_cost"],
    0.003: ["alpha_cost"],
}


def test_every_claims_effect_and_what_makes_a_setting_count() -> None:
    assert {name: claim.effect for name, claim in CLAIMS.items()} == {
        name: effect for effect, names in EFFECTS.items() for name in names
    }
    assert {name: claim.light for name, claim in CLAIMS.items() if claim.light is not None} == {
        "text_ood": 0.005,
        "text_shifts": 0.005,
    }
    votes = {name: claim.vote for name, claim in CLAIMS.items() if claim.kind == "share"}
    assert votes == {
        "descent_video": "all",
        "descent_text": "all",
        "no_descent_video": "most",
        "no_descent_text": "most",
        "video_wins": "sign",
        "text_wins": "sign",
    }


@pytest.mark.parametrize(
    ("claim", "model"), [("video_ood", "UT"), ("video_ood_paper", "DUST"), ("video_ood_vit", "ViT")]
)
def test_the_papers_gain_is_the_trimmed_mean_of_its_log_ratios(claim: str, model: str) -> None:
    table = pd.read_csv("data/paper/table3_video_rmse.csv").query("epsilon == 0.13 and model == @model")
    gains = np.sort(np.log(table["unconstrained"] / table["constrained"]).to_numpy())
    cut = len(gains) // 4 if len(gains) > 3 else 0
    assert paper_value(claim) == pytest.approx(gains[cut : len(gains) - cut].mean()) and len(gains) >= 3


def test_the_papers_depth_is_seven_layers_gain_minus_that_of_three() -> None:
    table = pd.read_csv("data/paper/table3_video_rmse.csv").query("epsilon == 0.13 and model == 'UT'")
    gain = np.log(table["unconstrained"] / table["constrained"]).groupby([table["dataset"], table["layers"]]).sum()
    assert paper_value("video_depth") == pytest.approx(np.mean(gain.xs(7, level=1) - gain.xs(3, level=1)))
    assert np.isnan(paper_value("text_ood"))
