"""The verdicts on all published parts of a profile: what the first screen and the page behind it tell of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from descent.analysis.verdicts import NOT_TESTED
from descent.config import Params
from descent.published import by_noise, each_part

PAGE = "README.md"  # the page behind, beside the published parts


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on all published parts of a profile, and what they were judged from.

    Attributes:
        folders: of the parts that are judged together, relative to the README; beside them protocol and pictures.
        apart: of the runs that are judged alone.
        card, models: the scorecard, and its claims on each model alone.
        averages: what it was judged from, by other averages (sensitivity.table).
        cells: those of the parts that are judged together (parts.counted).
    """

    params: Params
    folders: Sequence[Path]
    apart: Sequence[Path]
    card: pd.DataFrame
    models: pd.DataFrame
    averages: pd.DataFrame
    cells: pd.DataFrame

    @property
    def primary(self) -> pd.DataFrame:
        """The primary claims."""
        return self.card[self.card["group"] == "primary"]

    @property
    def own(self) -> pd.DataFrame:
        """They and what varies them, on each model alone."""
        return self.models[self.models["claim"].str.startswith(tuple(self.primary["claim"]))]

    @property
    def places_behind(self) -> set[tuple[str, str]]:
        """The data sets and models that their verdicts rest on."""
        return each_part.places_behind(self.primary, self.own)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """What our arm gains at each level of the test noise (by_noise.found)."""
        return by_noise.found(self.folders, self.params)

    def brief(self, page: str) -> pd.DataFrame:
        """The primary claims, of which `why` is short: where several models were left out, how many.

        Args:
            page: where the reasons of each are.
        """
        primary, own = self.primary, self.own
        fails = own.assign(fails=own["why"] != "").groupby("claim")["fails"].all()
        models = own.groupby("claim")["model"].nunique()
        told = zip(primary["claim"], primary["why"], primary["verdict"], strict=True)
        return primary.assign(
            why=[
                f"none of its {models[claim]} models meets the preconditions, [why]({page})"
                if verdict == NOT_TESTED and fails.get(claim, False) and models[claim] > 1
                else self.params.in_words(why)
                for claim, why, verdict in told
            ]
        )
