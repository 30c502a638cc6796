"""The scores of the results table on every resample, as the scorecard asks for them: no cell is left out."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from descent.analysis.keys import PAIR, PLACE, SEEDLESS
from descent.analysis.lost import ZERO, chance, truth
from descent.analysis.select import TRAINED, average, check_named, measured, select
from descent.analysis.summary import cells_table
from descent.components import TASKS
from descent.config import Params

RELAXED = "resilience"  # the study of relaxations
NO_RATIO, NO_STEP = 1.0, 0.0  # mean ratio of successive losses, and share of steps down, where nothing descends
Found = TypeVar("Found")


@dataclass(frozen=True)
class Evidence:
    """The results table and its parameters. Scores but `under_shifts` are under TRAINED, the noise of training."""

    results: pd.DataFrame
    params: Params

    @cached_property
    def known(self) -> pd.DataFrame:
        """The rows under TRAINED that hold numbers."""
        return measured(select(self.results, shift=TRAINED))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Those of them that are no resample, no epoch and no histogram, nine rows of ten."""
        return select(self.known, bin=0.0)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell, with `lost`: it diverged, or no epoch of it can be reported."""
        cells = cells_table(self.results, self.params)
        diverged = truth(cells["diverged"])
        return cells.assign(lost=cells["trained"] & (diverged | (cells["epoch"].fillna(1) == 0)))

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """What `find` finds, which many claims ask for, found once for each key; a key begins with who asks."""
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]

    @property
    def relaxation(self) -> str:
        """The relaxation in use, of those that the study of them varies."""
        study = self.params.studied(RELAXED)
        return str(self.params.objective(study.arm, study.dataset, study.model)["resilience"])

    def by_cell(self, experiment: str, name: str) -> pd.DataFrame:
        """`<name>_replicate` of every trained cell; index SEEDLESS and seed, a column a resample, 0 the test set.

        A lost cell scores as if it had learned nothing, on every resample (`nothing_learned`). Any other without
        the score has a row without numbers. Empty where the experiment has no such score.
        """
        rows = select(self.known, experiment=experiment, metric=f"{name}_replicate")
        return self._of_every_cell(experiment, name, rows)

    def under_shifts(self, experiment: str, name: str, named: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        """The same as a mean over the shifts that are named for a cell's model; of cells that have all these."""
        rows = measured(select(self.results, experiment=experiment, metric=f"{name}_replicate"))
        of_models = [rows[(rows["model"] == model) & rows["shift"].isin(own)] for model, own in named.items()]
        rows = pd.concat([rows[:0], *of_models])
        by = [*SEEDLESS, "seed", "bin"]
        whole = rows.groupby(by)["value"].transform("size") == rows["model"].map(lambda model: len(named[model]))
        return self._of_every_cell(experiment, name, average(rows[whole], by, over=["shift"]).reset_index())

    def _of_every_cell(self, experiment: str, name: str, rows: pd.DataFrame) -> pd.DataFrame:
        index = [*SEEDLESS, "seed"]
        cells = select(self.cells, experiment=experiment, trained=True).set_index(index)
        if rows.empty:
            return pd.DataFrame(index=cells.index[:0])
        check_named(rows, [*index, "bin"])
        table = rows.pivot(index=index, columns="bin", values="value").reindex(cells.index)
        worst = self.nothing_learned(name, cells.reset_index()).to_numpy(float)
        values = np.where(cells["lost"].to_numpy(bool)[:, None], worst[:, None], table.to_numpy(float))
        return pd.DataFrame(values, cells.index, table.columns.astype(int))

    def nothing_learned(self, name: str, cells: pd.DataFrame) -> pd.Series:
        """What each of these cells would score had it learned nothing: a denoiser as the map to zero, a classifier
        as guessing, a language model with no token right. Of ours nothing descends, of ERM all does."""
        if name.startswith("log_rmse"):
            # The zero map errs alike at all levels: its mean over any of them is that over all.
            return np.log(self.zero_rmse(cells))
        if name.startswith("ratio"):
            return pd.Series(NO_STEP if name == "ratio_below_one" else NO_RATIO, cells.index)
        if name == "descending":  # what speaks against the claim on its arm: of ours that it does, of ERM that not
            return (cells["arm"] != self.params.comparison.ours).astype(float)
        guessed = cells["dataset"].map(lambda dataset: chance(self.params, dataset)).astype(float)
        return guessed * cells["model"].map(self._span) if name == "area" else guessed

    def zero_rmse(self, cells: pd.DataFrame) -> pd.Series:
        """The mean RMSE of the zero map on each cell's data set, in its model's inputs; NaN where not measured."""
        zero = select(self.cells, arm=ZERO).set_index(PLACE)["mean_rmse"]
        wanted = pd.MultiIndex.from_frame(cells[PLACE])
        return zero.reindex(wanted).set_axis(cells.index).astype(float)

    def arms(self, table: pd.DataFrame, varied: Iterable[str] = ("",)) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The halves of a table of cells of the comparison's two arms, ours first, on one index PAIR.

        A pair of which one arm has no cell has a row without numbers in that half.

        Args:
            varied: only cells with one of these values of what a study varies.
        """
        table = table[table.index.get_level_values("varied").isin(list(varied))]
        names = table.index.get_level_values("arm")
        ours, theirs = (table[names == arm].droplevel(["arm", "varied"]) for arm in self.params.comparison.arms)
        both = ours.index.union(theirs.index)
        return ours.reindex(both), theirs.reindex(both)

    @cached_property
    def capacity(self) -> pd.Series:
        """By video model, whether its arms have equally many parameters in every pair; of models with pairs."""
        cells = select(self.cells, experiment="video", trained=True)
        ours, theirs = self.arms(cells.set_index([*PAIR, "arm", "varied"])[["parameters"]])
        known = ours.notna().all(axis=1) & theirs.notna().all(axis=1)
        return (ours == theirs)[known]["parameters"].groupby("model").all()

    def models(self, inputs: str, alike: bool = True) -> list[str]:
        """The video models on such inputs (patches | frames) whose arms are of equal capacity, or are not."""
        said = self.params.components["models"]
        known = self.capacity[self.capacity == alike].index
        return [model for model in known if said[model]["INPUTS"] == inputs]

    def task(self, experiment: str) -> str:
        """The task of an experiment, which may be a study."""
        return experiment if experiment in TASKS else self.params.studied(experiment).task

    def items(self, experiment: str) -> dict[str, int]:
        """How many test items each data set of an experiment has."""
        rows = select(self.known, experiment=experiment, metric="test_items")
        return rows.groupby("dataset")["value"].min().astype(int).to_dict()

    def _span(self, model: str) -> float:
        return self.params.section(self.params.task_of(model)).evaluation.span
