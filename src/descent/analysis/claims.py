"""The claims of the paper, and one beyond it: by which rule, on which experiment, and what counts as an effect.

Effects and bounds are the protocol's for primary claims, descent, the dual rate and single texts; else ours: half
of the settings is the bound of "is better" and of "does not"; 1 % an effect of depth and of size as of the arms;
half a point is the language model's margin as that of texts, and 0.3 points, which the paper names, is alpha's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from descent.analysis import paper_tables
from descent.analysis.verdicts import trimmed
from descent.components import TASKS

NEARLY_ALL, HALF = 0.9, 0.5


@dataclass(frozen=True)
class Claim:
    """How a claim is judged.

    Attributes:
        kind: gain (an effect above zero), cost (one below a margin), share (of settings, against a bound), or
            equivalence (every pair of settings within a margin).
        experiment: where its cells are, a task or a study.
        effect: smallest effect of interest, margin or bound; log-ratios and shares of one, so 0.01 is a point.
        light: the same for models that are no encoders, where it differs.
        vote: share: what makes a setting count: the sign of its mean over seeds (0 counts half), that all seeds
            have it, or that most have (just half of them counts half).
        capacity: whether both arms must have equally many parameters.
        enforced: whether it is about cells that are held to constraints.
        shifts: whether it is about shifts that training has not seen.
        short: what a primary claim says, in the few words that a picture and the first screen have room for.
    """

    kind: Literal["gain", "cost", "share", "equivalence"]
    experiment: str
    effect: float
    unit: Literal["percent", "points", "plain"]
    primary: bool = False
    light: float | None = None
    vote: Literal["sign", "all", "most"] = "sign"
    capacity: bool = True
    enforced: bool = True
    shifts: bool = False
    short: str = ""

    @property
    def about(self) -> str:
        """What a primary claim is about, in a word or two."""
        return self.short.partition(":")[0]

    @property
    def compares(self) -> bool:
        """Whether what is scored of a setting is one arm beside the other, and not one arm, or a value, alone."""
        return self.experiment in TASKS and self.vote == "sign"

    @property
    def group(self) -> str:
        """The family in which Holm corrects it."""
        return "primary" if self.primary else "exploratory"

    @property
    def least_seeds(self) -> int:
        """K at which a verdict is possible: no two-sided sign-flip p is below 2 / 2^K, which Holm multiplies."""
        return 8 if self.primary else 6


CLAIMS = {
    "descent_video": Claim("share", "video", NEARLY_ALL, "percent", vote="all"),
    "no_descent_video": Claim("share", "video", HALF, "percent", vote="most", enforced=False),
    "descent_text": Claim("share", "text", NEARLY_ALL, "percent", vote="all"),
    "no_descent_text": Claim("share", "text", HALF, "percent", vote="most", enforced=False),
    "video_wins": Claim("share", "video", HALF, "percent"),
    "video_ood": Claim(
        "gain",
        "video",
        0.01,
        "percent",
        primary=True,
        short="Video: at equal capacity, less error above the noise of training",
    ),
    "video_cost": Claim(
        "cost", "video", 0.015, "percent", primary=True, short="Video: a small price up to the noise of training"
    ),
    "video_ood_paper": Claim("gain", "video", 0.01, "percent", capacity=False),
    "video_cost_paper": Claim("cost", "video", 0.015, "percent", capacity=False),
    "video_ood_vit": Claim("gain", "video", 0.01, "percent"),
    "video_cost_vit": Claim("cost", "video", 0.015, "percent"),
    "video_depth": Claim("gain", "video", 0.01, "percent"),
    "video_shifts": Claim("gain", "video", 0.01, "percent", shifts=True),
    "text_wins": Claim("share", "text", HALF, "percent"),
    "text_ood": Claim(
        "gain",
        "text",
        0.01,
        "points",
        primary=True,
        light=0.005,
        short="Texts: more accurate above the noise of training",
    ),
    "text_cost": Claim(
        "cost", "text", 0.005, "points", primary=True, short="Texts: a small price up to the noise of training"
    ),
    "text_shifts": Claim("gain", "text", 0.01, "points", light=0.005, shifts=True),
    "text_size": Claim("gain", "text", 0.01, "percent"),
    "alpha_ood": Claim(
        "gain",
        "alpha",
        0.02,
        "points",
        primary=True,
        short="Texts: the more descent is asked for, the more accurate above the noise of training",
    ),
    "alpha_cost": Claim("cost", "alpha", 0.003, "points"),
    "dual_lr": Claim("equivalence", "dual_lr", 0.01, "points"),
    "sample_share": Claim("gain", "resilience", 0.05, "points"),
    "sample_mean": Claim("gain", "resilience", 0.05, "plain"),
    "sample_median": Claim("gain", "resilience", 0.05, "plain"),
    "lm_ood": Claim(
        "gain",
        "lm",
        0.01,
        "points",
        primary=True,
        short="Language model: more accurate above the noise of training",
    ),
    "lm_cost": Claim("cost", "lm", 0.005, "points"),
    "lm_shifts": Claim("gain", "lm", 0.01, "points", shifts=True),
}


def paper_value(claim: str) -> float:
    """The paper's own number for a claim, worked out from its tables; NaN where they hold none.

    Table 3 has means over all noise levels, most of them and the largest errors out of distribution, so its
    log-ratios stand in for those out of distribution; its UT is the one model whose arms have equal capacity.
    """
    return FROM_TABLES[claim]() if claim in FROM_TABLES else float("nan")


def _wins(table: pd.DataFrame) -> float:
    return float(((table["gain"] > 0) + 0.5 * (table["gain"] == 0)).mean())


def _gain(model: str) -> float:
    table = paper_tables.read(paper_tables.VIDEO)
    rows = table[(table["model"] == model) & (table["epsilon"] == 0.13)]
    return float(trimmed(rows["gain"].to_numpy(float))) / 100


def _depth(model: str) -> float:
    table = paper_tables.read(paper_tables.VIDEO)
    rows = table[(table["model"] == model) & (table["epsilon"] == 0.13)]
    gain = rows.pivot(index="dataset", columns="layers", values="gain")
    return float(trimmed((gain[gain.columns.max()] - gain[gain.columns.min()]).to_numpy(float))) / 100


FROM_TABLES: dict[str, Callable[[], float]] = {
    "video_wins": lambda: _wins(paper_tables.read(paper_tables.VIDEO)),
    "text_wins": lambda: _wins(paper_tables.read(paper_tables.TEXT)),
    "video_ood": lambda: _gain("UT"),
    "video_ood_paper": lambda: _gain("DUST"),
    "video_ood_vit": lambda: _gain("ViT"),
    "video_depth": lambda: _depth("UT"),
}
