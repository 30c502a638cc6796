"""What was trained at the paper's size: published parts whose frames and dictionaries are as large as its own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from descent.analysis.keys import PLACE, VARIANT
from descent.analysis.scorecard import scores
from descent.analysis.select import select
from descent.analysis.verdicts import Estimate
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.published import files, gains
from descent.published.markdown import linked, pipe

SIZE, PATCH, ATOMS = 160, 16, 1024  # C.1
HEADER = (
    "run",
    "model",
    "plain training has",
    "learning rates, constrained / plain",
    *gains.FOUND,
    "lost, constrained / plain",
)
OUT, WITHIN = "video_ood", "video_cost"  # with `_paper` where the arms have unlike capacity


def table(folders: Sequence[Path], params: Params) -> str:
    """A row for each model of each part of that size; empty where there is no such part.

    What our arm gains over the baseline, with the 95 % interval, is of the seeds of which neither arm's cell was
    lost: where a lost one counted as the map to zero it would tell of nothing else.
    """
    return pipe(HEADER, [row for folder in folders for row in _rows(folder, params)])


def _rows(folder: Path, params: Params) -> Iterator[list[object]]:
    frame = files.values(folder)["video"]["frame"]
    if (frame["size"], frame["patch"]) != (SIZE, PATCH):
        return
    told = files.params(folder)
    pairs, facts = files.pairs_and_facts(folder)
    cells = select(files.cells(folder), experiment="video")
    for place in pairs.loc[pairs["claim"].str.startswith(OUT), VARIANT].drop_duplicates().to_dict("records"):
        if told.model_budget(place["model"]).get("atoms", 0) < ATOMS:  # none of a model without a dictionary
            continue
        arms = [select(cells, arm=arm, **place).set_index("seed") for arm in params.comparison.arms]
        lost = [arm["diverged"].astype(bool) for arm in arms]
        left = set(lost[0].index[~lost[0]]) & set(lost[1].index[~lost[1]])
        own = select(pairs[pairs["seed"].isin(left)], **place)
        yield [
            linked(folder),
            f"{params.label(place['model'])}, L = {place['layers']}, {params.label(place['dataset'])}",
            _capacity(*arms),
            " / ".join(f"{arm['lr'].iloc[0]:g}" for arm in arms),
            *(_gain(own, facts, claim, sign) for claim, sign in ((OUT, 1), (WITHIN, -1))),
            len(left),
            f"{lost[0].sum()} / {lost[1].sum()} of {len(arms[0])}",
        ]


def _capacity(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    share = theirs["parameters"].iloc[0] / ours["parameters"].iloc[0]
    return "as many weights" if share == 1 else f"{100 * share:.0f} % of the weights"


def _gain(pairs: pd.DataFrame, facts: pd.DataFrame, claim: str, sign: int) -> str:
    """Of the pairs of a claim, or of the same claim about arms of unlike capacity."""
    own = pairs[pairs["claim"].isin([claim, f"{claim}_paper"])]
    if own.empty:
        return UNKNOWN
    fact = select(facts, **own.iloc[0][["claim", *PLACE]]).iloc[0]
    return gains.estimated(Estimate.of(sign * scores(own)[1][0], int(fact["resampled"])))
