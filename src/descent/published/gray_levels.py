"""Errors of video as they are, in gray levels, beside the verdicts' mean of log-ratios.

The protocol averages ln(RMSE) over the test noise, so that every level counts alike; the mean of the RMSE itself
is ruled by the highest levels. Where arms cross between levels, the two may differ in sign.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.analysis.controls import over_seeds
from descent.analysis.keys import PAIR, PLACE, SETTING, tuples
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.analysis.verdicts import NOT_TESTED, student, trimmed
from descent.analysis.wording import UNKNOWN, gain, number_of
from descent.cells import headline
from descent.config import Params
from descent.published import each_part, judged
from descent.published.markdown import pipe

MEASURES = {"out": "rmse_out_of_distribution", "in": "rmse_in_distribution"}
EVERY = {"all": "mean_rmse"}  # over all test noise
TOLD = (
    "RMSE of both arms in gray levels (0 to 255), the mean over test noise and seeds; *fewer*: by how much our "
    "arm's is lower than ERM's; *of the mean*: the logarithm of the ratio of these means, where claims average "
    "logarithms over the levels. 95 % intervals of the seeds alone; in brackets pairs, less those "
    "of which a cell diverged."
)


def paired(cells: pd.DataFrame, params: Params, measures: Mapping[str, str] = MEASURES) -> pd.DataFrame:
    """A row for each pair of trained cells of video's grids that did not diverge: PAIR, for each word of
    the measures the mean RMSE of `ours_<>` and `theirs_<>` (0 to 255), `fewer_<>`, theirs less ours, and
    `ratio_<>`, ln(theirs / ours).

    Args:
        cells: summary.cells_table.
    """
    own = select(cells, experiment="video")
    own = own[own["trained"].astype(bool) & ~truth(own["diverged"])]
    arms = [
        select(own, arm=arm).astype(dict.fromkeys(measures.values(), float))[[*PAIR, *measures.values()]]
        for arm in params.comparison.arms
    ]
    both = arms[0].merge(arms[1], on=PAIR, suffixes=("_ours", "_theirs")).set_index(PAIR)
    columns = {}
    for word, measure in measures.items():
        ours, theirs = both[f"{measure}_ours"], both[f"{measure}_theirs"]
        columns |= {f"ours_{word}": ours, f"theirs_{word}": theirs}
        columns |= {f"fewer_{word}": theirs - ours, f"ratio_{word}": np.log(theirs / ours)}
    return pd.DataFrame(columns).dropna().reset_index()


def table(cells: pd.DataFrame, params: Params) -> str:
    """A row for each setting of video; empty where there is none.

    Args:
        cells: as of `paired`.
    """
    pairs = paired(cells, params)
    if pairs.empty:
        return ""
    names = [f"{what}_{word}" for word in MEASURES for what in ("ours", "theirs", "fewer", "ratio")]
    rows = []
    for row in over_seeds(pairs, names, by=SETTING).to_dict("records"):
        place = [params.label(row["dataset"]), params.label(row["model"])]
        words = [*place, row["layers"], f"{row['eps']:g} ({row['ours_out_seeds']:.0f})"]
        for word in MEASURES:
            words += [f"{row[f'theirs_{word}']:.2f}", f"{row[f'ours_{word}']:.2f}"]
            words += [_interval(row, f"fewer_{word}", 1.0, ""), _interval(row, f"ratio_{word}", 100.0, " %")]
        rows.append(words)
    of = [f"{what}, {where}" for where in MEASURES for what in ("ERM", "ours", "fewer", "of the mean")]
    return f"{TOLD}\n\n{pipe(['data set', 'model', 'L', 'eps', *of], rows)}"


def across(cells: pd.DataFrame, card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """In a sentence, what the tested gain of video and its price come to where errors are averaged and not their
    logarithms: the same trimmed mean over the same settings and seeds, with Student's interval; the gain by depth
    too, and over all test noise; seeds of which a cell diverged are left out, and counted. Empty where no gain was
    tested, or no seed is left of it.

    Args:
        cells: as of `paired`.
        card, models: the scorecard, and its claims on each model alone (scorecard.by_model).
    """
    tested = card[card["verdict"] != NOT_TESTED]
    own = [name for name in tested["claim"] if (CLAIMS[name].kind, CLAIMS[name].experiment) == ("gain", "video")]
    if not own:
        return ""
    places = each_part.places_behind(tested[tested["claim"] == own[0]], models)
    cells = cells.loc[[place in places for place in tuples(cells, PLACE)]]
    cells = cells[np.isclose(cells["eps"].astype(float), headline(params, "video"))]
    pairs = paired(cells, params, MEASURES | EVERY)
    ratios = pairs.pivot(index=SETTING, columns="seed", values=["ratio_out", "ratio_in", "ratio_all"]).dropna(
        axis=1
    )
    if ratios.empty:
        return ""
    told = {}
    for word, sign in {"out": 1, "in": -1, "all": 1}.items():
        by_seed = trimmed(sign * ratios[f"ratio_{word}"].to_numpy())
        told[word] = f"{gain(*student(by_seed), len(by_seed))} %"
    compared = cells["experiment"].eq("video") & cells["arm"].isin(params.comparison.arms)
    lost = cells["seed"][compared & truth(cells["diverged"])].nunique()
    aside = f", without {number_of(lost, 'seed')} of which a cell is lost" if lost else ""
    by_depth = judged.ranges(ratios["ratio_out"].mean(axis=1).rename("estimate").reset_index(), "percent")
    return (
        "**By the measure**: claims average logarithms, in which low noise counts as much as high. Of the mean "
        f"error in gray levels the gain of *{CLAIMS[own[0]].about}* is {told['out']}, by depth {by_depth}; the "
        f"price {told['in']}; over all test noise, as in the paper's tables, the gain is {told['all']} (intervals "
        f"over seeds alone{aside})."
    )


def _interval(row: dict, name: str, times: float, unit: str) -> str:
    numbers = (times * row[key] for key in (name, f"{name}_low", f"{name}_high"))
    middle, low, high = (UNKNOWN if np.isnan(value) else f"{value:+.2f}" for value in numbers)
    return f"{middle}{unit} [{low}, {high}]"
