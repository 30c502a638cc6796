"""The published parts of a profile's programme, judged as one: what the README begins with.

The programme may be run and published in parts, each of its own data. No claim is in two of them, and the primary
claims stay one family for Holm.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from descent.analysis import scorecard
from descent.analysis.preconditions import NOTHING
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_forest
from descent.figures.parts import style
from descent.io.folders import write_text
from descent.report import reproduction

CLAIMS, FOREST = "claims.csv", "fig_forest.png"
DIGITS = "%.6g"


def parts(root: Path, profile: str) -> list[Path]:
    """The folders of what was published of a profile."""
    digits = "[0-9a-f]" * 8  # evidence.folder_name
    return sorted(file.parent for file in root.glob(f"{profile}-{digits}/facts.csv"))


def joined(folders: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and facts of all parts (scorecard.judged): each claim's are those of the part that tested it.

    A claim that none tested has the reason of a part whose models it is about, if there is one.

    Raises:
        UserError: two parts hold pairs of one claim.
    """
    pairs, facts = zip(*map(scorecard.load, folders), strict=True)
    owners: dict[str, int] = {}
    for number, own in enumerate(pairs):
        for claim in own["claim"].unique():
            if claim in owners:
                raise UserError(
                    f"{folders[owners[claim]]} and {folders[number]} both hold pairs of {claim}: remove the part "
                    "that the other one replaces"
                )
            owners[claim] = number
    told = pd.concat([own.assign(part=number) for number, own in enumerate(facts)], ignore_index=True)
    rank = (told["part"] != told["claim"].map(owners)) * 2 + (told["why"] == NOTHING)
    best = rank.groupby(told["claim"]).transform("min") == rank
    first = told.where(best)["part"].groupby(told["claim"]).transform("min")
    return pd.concat(pairs, ignore_index=True), told[told["part"] == first].drop(columns="part")


def write(root: Path, params: Params) -> str:
    """Write claims.csv and the forest plot of all parts into `root`; returns the README's first screen.

    Raises:
        UserError: as of `joined`.
    """
    folders = parts(root, params.profile)
    pairs, facts = joined(folders)
    card, models = scorecard.judged(pairs, facts), scorecard.by_model(pairs, facts)
    write_text(root / CLAIMS, card.to_csv(index=False, float_format=DIGITS, lineterminator="\n"))
    style.use(params)
    style.save(fig_forest.forest(card, models, params), root / FOREST)
    return reproduction.first_screen(card, models, pairs, folders, params)
