"""The resampled scores of the results table, paired between the arms: what the scorecard measures claims on."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from descent.analysis import bootstrap
from descent.analysis.select import TRAINED, check_named, measured, select
from descent.analysis.summary import cells_table
from descent.config import Params

SETTING = ["dataset", "model", "arm", "layers", "eps", "varied"]
SEEDS = (2**32 - 5,)  # of the resamples of seeds; those of test items are evaluation's


@dataclass(frozen=True)
class Evidence:
    """The results table and its parameters, asked for what one experiment scored on every resample.

    Tables of scores have a row for every cell or setting and a column for every resample; column 0 is no resample
    but the test set and all seeds. A resample draws test items (in evaluation) and, here, seeds: the same for all
    arms, so differences between arms are paired. All scores are those under TRAINED, the noise of training.
    """

    results: pd.DataFrame
    params: Params

    @cached_property
    def known(self) -> pd.DataFrame:
        """The rows under TRAINED that hold numbers."""
        return measured(select(self.results, shift=TRAINED))

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell."""
        return cells_table(self.results, self.params)

    def by_cell(self, experiment: str, name: str) -> pd.DataFrame:
        """`<name>_replicate` of every trained cell; index SETTING and seed. Empty where there are none.

        A cell without the score, as one that diverged before its first epoch ended, has a row without numbers.
        """
        rows = select(self.known, experiment=experiment, metric=f"{name}_replicate")
        if rows.empty:
            return pd.DataFrame(index=pd.MultiIndex.from_tuples([], names=[*SETTING, "seed"]))
        check_named(rows, [*SETTING, "seed", "bin"])
        table = rows.pivot(index=[*SETTING, "seed"], columns="bin", values="value")
        trained = pd.MultiIndex.from_frame(
            select(self.cells, experiment=experiment, trained=True)[[*SETTING, "seed"]]
        )
        return table.set_axis(table.columns.astype(int), axis=1).reindex(trained)

    def weights(self, table: pd.DataFrame) -> pd.DataFrame:
        """How often each cell's seed stands in each resample, 0 where the cell has no number."""
        seeds = table.index.get_level_values("seed")
        names = sorted(set(seeds))
        drawn = bootstrap.counts(len(names), table.shape[1] - 1, SEEDS).T
        drawn = pd.DataFrame(drawn, index=names, columns=table.columns)
        return drawn.loc[seeds].set_axis(table.index).where(table.notna(), 0)

    def mean(self, experiment: str, name: str) -> pd.DataFrame:
        """A score of every setting: the mean over the resampled seeds."""
        table = self.by_cell(experiment, name)
        if table.empty:
            return table.droplevel("seed")
        weights = self.weights(table)
        return (table * weights).groupby(SETTING).sum() / weights.groupby(SETTING).sum()

    def best(self, experiment: str, name: str) -> pd.DataFrame:
        """A score of every setting: of the resampled trials the one with the lowest validation loss.

        As in trials.best_trial: trials that diverged come last.
        """
        table = self.by_cell(experiment, name)
        if table.empty:
            return table.droplevel("seed")
        order = select(self.cells, experiment=experiment).assign(
            diverged=lambda cells: cells["diverged"].fillna(False).astype(bool)
        )
        order = order.sort_values(["diverged", "validation_loss", "seed"]).set_index([*SETTING, "seed"]).index
        table = table.reindex(order[order.isin(table.index)])
        drawn = self.weights(table) > 0
        first = drawn & (drawn.groupby(SETTING).cumsum() == 1)
        return table.where(first).groupby(SETTING).sum(min_count=1)

    def seeds(self, experiment: str) -> int:
        """How many seeds (of text: trials) the experiment has."""
        return int(select(self.results, experiment=experiment)["seed"].nunique())

    def items(self, experiment: str) -> dict[str, int]:
        """How many test items each data set of an experiment has."""
        rows = select(self.known, experiment=experiment, metric="test_items")
        return rows.groupby("dataset")["value"].min().astype(int).to_dict()

    def arms(self, table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The halves of a table of settings of the comparison's two arms, ours first, where both have a row."""
        comparison, names = self.params.comparison, table.index.get_level_values("arm")
        halves = [
            table[names == arm].droplevel(["arm", "varied"]) for arm in (comparison.ours, comparison.baseline)
        ]
        both = halves[0].index.intersection(halves[1].index)
        return halves[0].loc[both], halves[1].loc[both]
