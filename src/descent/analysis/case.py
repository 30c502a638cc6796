"""A claim with all that its preconditions look at."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from descent.analysis.claims import Claim
from descent.analysis.evidence import RELAXED, Evidence
from descent.analysis.keys import PLACE, SEEDLESS
from descent.analysis.select import select


@dataclass(frozen=True)
class Case:
    """A claim, its pairs, and the evidence that they come from.

    Attributes:
        pairs: the claim's rows of effects.pairs.
    """

    name: str
    claim: Claim
    pairs: pd.DataFrame
    evidence: Evidence

    @property
    def task(self) -> str:
        """The task of the claim's experiment."""
        return self.evidence.task(self.claim.experiment)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The claim's cells: of its experiment, data sets, models and noise levels, and of the two arms; of
        several relaxations those of the one in use, as its pairs."""
        cells = select(self.evidence.cells, experiment=self.claim.experiment, trained=True)
        cells = cells[cells["arm"].isin(self.evidence.params.comparison.arms)]
        if self.claim.experiment == RELAXED:
            cells = cells[cells["varied"].isin(["", self.evidence.relaxation])]
        return cells.merge(self.pairs[[*PLACE, "eps"]].drop_duplicates())

    def rows(self, metric: str, split: str) -> pd.DataFrame:
        """The claim's cells' rows of a metric on a split."""
        rows = select(self.evidence.scores, experiment=self.claim.experiment, metric=metric, split=split)
        return rows.merge(self.cells[[*SEEDLESS, "seed"]])

    def of_arm(self, side: str) -> pd.DataFrame:
        """The claim's cells of one side of the comparison."""
        return select(self.cells, arm=getattr(self.evidence.params.comparison, side))
