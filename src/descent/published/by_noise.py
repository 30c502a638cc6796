"""What our arm gains at each test noise level, of all published parts: a claim's mean over the levels hides it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.analysis.keys import PLACE, SETTING, tuples
from descent.analysis.select import in_distribution, select
from descent.analysis.verdicts import CANNOT_TELL, NOT_TESTED, trimmed
from descent.analysis.wording import UNIT, signed, unit_of
from descent.cells import headline
from descent.components import TASKS
from descent.config import Params
from descent.published import counting, each_part, files, parts
from descent.published.markdown import pipe

NAME = "levels"
TOLD = (
    "What our arm gains over ERM at each level of the test noise (gamma), the mean over seeds of 100 times the "
    "difference of -ln RMSE, or of the accuracy; in brackets where the 95 % interval over seeds holds 0, or is "
    "not known. Claims are means over the levels above eps. Some older runs hold no such table."
)


def found(folders: Sequence[Path], params: Params) -> pd.DataFrame:
    """The rows of our arm in the grids of all parts (levels.table), without those of a part that another replaces;
    a part published before such tables has none."""
    read = [files.table(folder, NAME) for folder in folders]
    tables = [table.assign(part=number) for number, table in enumerate(read) if table is not None]
    if not tables:
        return pd.DataFrame(columns=[*SETTING, "experiment", "gamma", "gain"])
    rows = pd.concat(tables, ignore_index=True)
    rows = rows[rows["experiment"].isin(TASKS) & (rows["arm"] == params.comparison.ours)]
    return counting.without(parts.replaced(folders), rows.dropna(subset="gain"))


def tables(rows: pd.DataFrame, params: Params) -> str:
    """A table for each task, a row for each setting and a column for each level, in percent or points; a number in
    brackets has a 95 % interval that holds 0. Empty where no part has such a table.

    Args:
        rows: as of `found`.
    """
    told = []
    for task in TASKS:
        own = select(rows, experiment=task)
        if own.empty:
            continue
        levels = sorted(own["gamma"].unique())
        lines = []
        for (dataset, model, layers, eps), setting in own.groupby(SETTING):
            by_level = setting.set_index("gamma")
            words = [_number(by_level.loc[level]) if level in by_level.index else "" for level in levels]
            place = [params.label(dataset), params.label(model)]
            lines.append([*place, layers, f"{eps:g}", *words])
        told.append(
            pipe(["data set", "model", "L", f"eps; {unit_of(task)}", *(f"{level:g}" for level in levels)], lines)
        )
    return "\n\n".join([TOLD, *told]) if told else ""


def across(rows: pd.DataFrame, card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """In a sentence, what each tested gain is at the lowest and the highest level above that of training, in the
    mean over the settings that it rests on, trimmed as the protocol's, and from which level on its sign is
    another; of claims that rest on parts with such tables alone. Empty without any.

    Args:
        rows: as of `found`.
        card, models: the scorecard, and its claims on each model alone (scorecard.by_model).
    """
    told = []
    for row in card[card["verdict"] != NOT_TESTED].to_dict("records"):
        claim = CLAIMS[row["claim"]]
        if claim.kind != "gain" or claim.experiment not in TASKS:
            continue
        places = each_part.places_behind(card[card["claim"] == row["claim"]], models)
        own = select(rows, experiment=claim.experiment)
        own = own.loc[[place in places for place in tuples(own, PLACE)]]
        own = own[np.isclose(own["eps"].astype(float), headline(params, claim.experiment))]
        if not places <= set(tuples(own, PLACE)):
            continue
        own = own[~in_distribution(own["gamma"], own["eps"])]
        means = own.groupby("gamma")["gain"].agg(lambda gains: float(trimmed(gains.to_numpy())))
        if means.empty:
            continue
        ends = [
            f"{signed(100 * means.iloc[end])} {UNIT[row['unit']]} at gamma = {means.index[end]:g}"
            for end in (0, -1)
        ]
        aside = f", *{CANNOT_TELL}* in all" if row["verdict"] == CANNOT_TELL else ""
        level = f"training had {headline(params, claim.experiment):g}"
        told.append(f"*{claim.about}* ({level}{aside}): {ends[0]}, {ends[1]}{_turn(means)}")
    return f"**By test noise** gamma: {'; '.join(told)}." if told else ""


def _turn(means: pd.Series) -> str:
    """From which level on all means have the sign of the last one, where the first has the other."""
    same = (means > 0) == (means.iloc[-1] > 0)
    if same.iloc[0]:
        return ""
    first = means.index[len(same) - same[::-1].cummin().sum()]
    return f" ({'better' if means.iloc[-1] > 0 else 'worse'} from {first:g} on)"


def _number(row: pd.Series) -> str:
    """The gain times 100, in brackets where its interval holds 0."""
    value = signed(100 * row["gain"])
    return value if row["gain_low"] > 0 or row["gain_high"] < 0 else f"({value})"
