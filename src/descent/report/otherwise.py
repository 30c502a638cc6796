"""What becomes of the verdicts on video where the models behind them are solved otherwise.

A part that is judged alone may train the very settings and seeds that a primary claim is judged on, with another
solver in our arm. Then the claim's mean is worked out from it as from what counts, and each setting is laid beside
its own, seed by seed. It decides no verdict.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from descent import config
from descent.analysis import comparable, grounds, parts
from descent.analysis.claims import CLAIMS
from descent.analysis.grounds import VARIANT
from descent.analysis.lost import truth
from descent.analysis.preconditions import PLACE
from descent.analysis.scorecard import PAPER, scores
from descent.analysis.select import select
from descent.analysis.verdicts import LEVEL, Estimate, student, trimmed
from descent.analysis.wording import gain
from descent.components import in_words
from descent.config import Params
from descent.report.markdown import linked, listed, pipe

VIDEO = "video"
SAME = [*VARIANT, "claim", "seed", "resample"]  # what two pairs share that are laid beside each other
HEADER = ("run / counts", "otherwise", "of", "counts, %", "otherwise, %", "difference, %", "constraints hold")


def tables(
    pairs: pd.DataFrame, facts: pd.DataFrame, together: Sequence[Path], apart: Sequence[Path], params: Params
) -> str:
    """A table in Markdown for each primary claim about video that settings solved otherwise speak of; else empty.

    A row a setting, after one for their trimmed mean where a solver has several of the claim's: what counts and
    what comes out of the other solver, with the claim's 95 % intervals; the difference by seed, with Student's;
    and in how many of our cells the constraints hold on validation data, there and here.

    Args:
        pairs, facts: what the parts that are judged together say (parts.joined).
        together: their folders.
        apart: those of parts that are judged alone.
    """
    claims = [name for name, claim in CLAIMS.items() if claim.primary and claim.experiment == VIDEO]
    others = [_held(folder, claims) for folder in apart]
    statements = pd.read_csv(PAPER).set_index("claim")["statement"]
    said = []
    for name in claims:
        told = select(facts, claim=name)
        passing = grounds.passing(told)
        counting = grounds.left_in(select(pairs, claim=name), passing).merge(_items(told), on=["claim", *PLACE])
        counting = counting.assign(folder=[together[part] for part in counting["part"]])
        own = [select(other, claim=name) for other in others]
        if passing and (rows := [*_rows(counting, own, params)]):
            said.append(f"*{statements[name]}*\n\n{pipe(HEADER, rows)}")
    return "\n\n".join(said)


def _held(folder: Path, claims: Sequence[str]) -> pd.DataFrame:
    """The pairs of some claims that a part has, with its `folder`, and how many test `items` are drawn again."""
    pairs, facts = grounds.load(folder)
    return pairs[pairs["claim"].isin(claims)].merge(_items(facts), on=["claim", *PLACE]).assign(folder=folder)


def _items(facts: pd.DataFrame) -> pd.DataFrame:
    return facts[["claim", *PLACE, "resampled"]].rename(columns={"resampled": "items"})


def _rows(counting: pd.DataFrame, others: Sequence[pd.DataFrame], params: Params) -> Iterator[list[object]]:
    places = [own for other in others for _, own in other.groupby(PLACE)]
    found = [both for own in places if len(both := _beside(own, counting, params))]
    settings = len(counting[VARIANT].drop_duplicates())
    solvers = [both for _, both in pd.concat(found).groupby("what", sort=False)] if found else []
    for both in solvers:
        alone = [own for _, own in both.groupby(VARIANT)]
        if len(alone) > 1:
            which = "all" if len(alone) == settings else f"{len(alone)} of"
            yield _row(f"{which} {settings}, trimmed mean", both, params)
        for own in alone:
            dataset, model, layers = own.iloc[0][["dataset", "model", "layers"]]
            yield _row(in_words(params.components, f"{model} on {dataset}, L = {layers}"), own, params)


def _beside(own: pd.DataFrame, counting: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The pairs of a part about one model on one data set, with those that count beside them (`_counts`), and
    `what` is solved otherwise; none where more differs, or seeds or resamples are others."""
    there = counting.merge(own[VARIANT].drop_duplicates(), on=VARIANT)
    both = own.merge(there, on=SAME, suffixes=("", "_counts"))
    if not len(both) == len(own) == len(there):
        return both[:0]
    what = _otherwise(*both.iloc[0][["folder", "folder_counts", *PLACE]], params)
    return both.assign(what=what) if what else both[:0]


def _otherwise(run: Path, counts: Path, dataset: str, model: str, params: Params) -> str:
    """What our arm's objective has in a run that is another where it counts, in words: `R0 = 6`. Empty where there
    is nothing, or something else is another too."""
    ours, plain = params.comparison.ours, params.comparison.baseline
    told = []
    for folder in (run, counts):
        own = config.load(folder / "params.yaml")
        digests = comparable.digests(folder)
        shapes = [comparable.shape(own, dataset, model, arm, digests) for arm in (ours, plain)]
        alike = (shapes, own.epochs(model, 1.0), own.objective(plain, dataset, model))
        told.append((alike, own.objective(ours, dataset, model)))
    (alike, mine), (others, theirs) = told
    changed = [f"{name} = {_short(value)}" for name, value in mine.items() if value != theirs.get(name)]
    return listed(changed) if alike == others else ""


def _short(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def _row(of: str, both: pd.DataFrame, params: Params) -> list[object]:
    runs = (dict.fromkeys(both[column]) for column in ("folder", "folder_counts"))
    effects = [
        both.assign(effect=both[f"effect{ending}"], items=both[f"items{ending}"]) for ending in ("_counts", "")
    ]
    return [
        " / ".join(listed([linked(folder) for folder in folders]) for folders in runs),
        both["what"].iloc[0],
        of,
        *(_estimated(one) for one in effects),
        _difference(*effects),
        " / ".join(_holding(both, column, params) for column in ("folder_counts", "folder")),
    ]


def _estimated(pairs: pd.DataFrame) -> str:
    found = Estimate.of(trimmed(scores(pairs)[1]), int(pairs["items"].min()))
    return gain(found.value, found.interval(LEVEL), found.seeds)


def _difference(counts: pd.DataFrame, otherwise: pd.DataFrame) -> str:
    """By seed, on the test items as they are."""
    first, second = (trimmed(scores(pairs)[1])[:, 0] for pairs in (counts, otherwise))
    return gain(*student(second - first), len(first))


def _holding(both: pd.DataFrame, column: str, params: Params) -> str:
    """In how many of our cells the constraints hold, of those that the pairs of a folder are of."""
    settings = both[[column, *VARIANT]].drop_duplicates()
    cells = pd.concat([parts.cells([folder]).assign(**{column: folder}) for folder in dict.fromkeys(both[column])])
    ours = select(cells, experiment=VIDEO, arm=params.comparison.ours).merge(settings, on=[column, *VARIANT])
    return f"{truth(ours['feasible']).sum()} of {len(ours)}"
