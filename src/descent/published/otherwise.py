"""What becomes of the verdicts where the models behind them are solved otherwise.

A part that is judged alone may train the very settings and seeds that a primary claim is judged on, with another
solver in our arm. Then the claim's mean is worked out from it as from what counts, and each setting is laid beside
its own, seed by seed. It decides no verdict.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from descent import components
from descent.analysis import grounds, preconditions
from descent.analysis.claims import CLAIMS
from descent.analysis.keys import PLACE, VARIANT
from descent.analysis.lost import truth
from descent.analysis.scorecard import PAPER, estimated, scores
from descent.analysis.select import select
from descent.analysis.sensitivity import MEAN, TRIMMED
from descent.analysis.verdicts import TRIMMED_FROM, student, trimmed
from descent.analysis.wording import digits_of, gain, signed, unit_of
from descent.config import Params
from descent.published import files, gains, shape
from descent.published.markdown import anchor, linked, listed, pipe
from descent.published.parts import TRAINED_SEED

SAME = [*VARIANT, "claim", TRAINED_SEED, "resample"]  # what two pairs share that are laid beside each other
ALONE = "judged alone, as announced, it changes no verdict"
TITLE = "The models behind the verdicts, solved otherwise"  # of the chapter with the settings
LINK = "each setting beside its own"
Found = Mapping[str, Sequence[pd.DataFrame]]  # by claim, a table for each way of solving it otherwise
CELLS = [*VARIANT, TRAINED_SEED]  # what the two cells of a pair share
MEASURED = ("counts", "otherwise", "difference")  # in the claim's unit


def beside(
    pairs: pd.DataFrame, facts: pd.DataFrame, together: Sequence[Path], apart: Sequence[Path], params: Params
) -> Found:
    """Of each primary claim about a task the pairs that count beside those of the same settings solved otherwise,
    a table for each way of solving them.

    Columns beside those of the pairs: `<column>_counts`, the same of what counts; `folder`; the test `items` that
    are drawn again; how many of a pair's cells hold the constraints (`holds`, ours) and are `lost`; `what` is
    solved otherwise, in words, and what it is `instead` of where it counts; `of`, how many settings the claim has;
    and its `statement`.

    Args:
        pairs, facts: what the parts that are judged together say (parts.joined).
        together: their folders.
        apart: those of parts that are judged alone.
    """
    claims = [name for name, claim in CLAIMS.items() if claim.primary and claim.experiment in components.TASKS]
    others = [_held(folder, claims) for folder in apart]
    statements = pd.read_csv(PAPER).set_index("claim")["statement"]
    found = {}
    for name in claims:
        told = select(facts, claim=name)
        if passing := grounds.passing(told):
            counting = grounds.left_in(select(pairs, claim=name), passing).merge(
                _items(told), on=["claim", *PLACE]
            )
            counting = counting.assign(
                folder=[together[part] for part in counting["part"]], statement=statements[name]
            )
            found[name] = _by_solver(counting, [select(other, claim=name) for other in others], params)
    return found


def tables(found: Found, params: Params) -> str:
    """A table in Markdown for each claim of which there is one (`beside`); else empty.

    A row a setting, after one for their mean (trimmed as the claim's would be) where there are several: what
    counts and what comes out of the other solver, with the claim's 95 % intervals; the difference by seed, with
    Student's; in how many of our cells the constraints hold on validation data, and how many cells of both arms
    are lost, there and here.
    """
    said = []
    for solvers in found.values():
        rows = []
        for both in solvers:
            alone = [own for _, own in both.groupby(VARIANT)]
            rows += [_row(f"{_share(both)}, {_mean(both)}", both)] if len(alone) > 1 else []
            rows += [_row(_setting(own, params), own) for own in alone]
        said += [f"*{solvers[0]['statement'].iloc[0]}*\n\n{pipe(_header(solvers[0]), rows)}"] if rows else []
    return "\n\n".join(said)


def sentence(found: Found, page: str) -> str:
    """What becomes of the claims' means where they are solved otherwise, of the settings that were; empty where
    not more than one was.

    Args:
        page: where the settings stand.
    """
    told: dict[str, list[str]] = {}
    for claim, solvers in found.items():
        for both in solvers:
            if len(both[VARIANT].drop_duplicates()) > 1:
                head = (
                    f"**With {both['what'].iloc[0]} in place of {' / '.join(sorted(both['instead'].unique()))}** "
                    f"({_share(both)} settings)"
                )
                before, after = (_estimated(one) for one in _sides(both))
                what = "price" if CLAIMS[claim].kind == "cost" else "gain"
                plain = what == "gain" and _mean(both) == TRIMMED
                told.setdefault(head, []).append(
                    f"a {what} of {after} {_unit(both)} where it was {before}"
                    + (f" (untrimmed {_untrimmed(both)})" if plain else "")
                )
    said = [f"{head}: {', '.join(words)}" for head, words in told.items()]
    return f"{'. '.join(said)} ({ALONE}; [{LINK}]({page}#{anchor(TITLE)}))." if said else ""


def _header(both: pd.DataFrame) -> list[str]:
    measured = [f"{what}, {_unit(both)}" for what in MEASURED]
    return ["run / counts", "otherwise", "of", *measured, "constraints hold", "lost"]


def _unit(both: pd.DataFrame) -> str:
    return unit_of(_task(both))


def _task(both: pd.DataFrame) -> str:
    """The experiment of the claim that pairs are about."""
    return CLAIMS[both["claim"].iloc[0]].experiment


def _mean(both: pd.DataFrame) -> str:
    """What the claim's rule makes of so many settings."""
    return TRIMMED if len(both[VARIANT].drop_duplicates()) >= TRIMMED_FROM else MEAN


def _held(folder: Path, claims: Sequence[str]) -> pd.DataFrame:
    """The pairs of some claims that a part has, with its `folder`, and how many test `items` are drawn again."""
    pairs, facts = files.pairs_and_facts(folder)
    own = pairs[pairs["claim"].isin(claims)].merge(_items(facts), on=["claim", *PLACE]).assign(folder=folder)
    return own.rename(columns={"seed": TRAINED_SEED})  # the place of a seed is that of what counts


def _items(facts: pd.DataFrame) -> pd.DataFrame:
    return facts[["claim", *PLACE, "resampled"]].rename(columns={"resampled": "items"})


def _by_solver(counting: pd.DataFrame, others: Sequence[pd.DataFrame], params: Params) -> list[pd.DataFrame]:
    places = [own for other in others for _, own in other.groupby(PLACE)]
    found = [both for own in places if len(both := _paired(own, counting, params))]
    if not found:
        return []
    both = pd.concat(found).assign(of=len(counting[VARIANT].drop_duplicates()))
    times = both.groupby([*SAME, "what"]).cumcount()  # what two parts solve alike is told of each
    return [own for _, own in both.groupby(["what", times], sort=False)]


def _paired(own: pd.DataFrame, counting: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The pairs of a part about one model on one data set, with those that count beside them (`_counts`), and
    `what` is solved otherwise `instead` of what; none where more differs, or seeds or resamples are others."""
    there = counting.merge(own[VARIANT].drop_duplicates(), on=VARIANT)
    both = own.merge(there, on=SAME, suffixes=("", "_counts"))
    if not len(both) == len(own) == len(there):
        return both[:0]
    run, counts = both.iloc[0][["folder", "folder_counts"]]
    changed = _otherwise(run, counts, *both.iloc[0][PLACE], params)
    if not changed:
        return both[:0]
    what = listed([f"{name} = {here}" for name, (here, _) in changed.items()])
    instead = listed([str(there) for _, there in changed.values()])
    here, there = (_cells(folder, _task(own), params) for folder in (run, counts))
    both = both.join(here, on=CELLS).join(there.add_suffix("_counts"), on=CELLS)
    return both.assign(what=what, instead=instead)


def _cells(folder: Path, task: str, params: Params) -> pd.DataFrame:
    """By CELLS, of a part's grid for a task: how many cells of our arm hold the constraints on validation data
    (`holds`), and of both arms are `lost`."""
    cells = select(files.cells(folder), experiment=task)
    lost = truth(cells["diverged"])
    holds = truth(cells["feasible"]) & ~lost & (cells["arm"] == params.comparison.ours)
    cells = cells.assign(lost=lost, holds=holds).rename(columns={"seed": TRAINED_SEED})
    return cells[cells["arm"].isin(params.comparison.arms)].groupby(CELLS)[["holds", "lost"]].sum()


def _otherwise(run: Path, counts: Path, dataset: str, model: str, params: Params) -> dict[str, tuple[str, str]]:
    """What our arm's objective has in a run that is another where it counts, by its name: here and there. Empty
    where there is nothing, or something else is another too."""
    ours, baseline = params.comparison.arms
    told = []
    for folder in (run, counts):
        own = files.params(folder)
        digests = files.digests(folder)
        shapes = [shape.shape(own, dataset, model, arm, digests) for arm in (ours, baseline)]
        mine, theirs = (shape.objective(own, dataset, model, arm) for arm in (ours, baseline))
        told.append(((shapes, own.epochs(model, 1.0), theirs), mine))
    (alike, mine), (others, theirs) = told
    if alike != others:
        return {}
    both = {name: (mine.get(name), theirs.get(name)) for name in mine | theirs}
    return {name: (_short(here), _short(there)) for name, (here, there) in both.items() if here != there}


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _share(both: pd.DataFrame) -> str:
    """`all 9`, or `7 of 9`."""
    here, of = len(both[VARIANT].drop_duplicates()), both["of"].iloc[0]
    return f"all {of}" if here == of else f"{here} of {of}"


def _setting(own: pd.DataFrame, params: Params) -> str:
    dataset, model, layers = own.iloc[0][["dataset", "model", "layers"]]
    return params.in_words(f"{model} on {dataset}, L = {layers}")


def _sides(both: pd.DataFrame) -> list[pd.DataFrame]:
    """The pairs that count, and the others; of the seeds that every setting has."""
    both = preconditions.common(both)
    return [both.assign(effect=both[f"effect{end}"], items=both[f"items{end}"]) for end in ("_counts", "")]


def _row(of: str, both: pd.DataFrame) -> list[object]:
    runs = (dict.fromkeys(both[column]) for column in ("folder", "folder_counts"))
    sides = _sides(both)
    pairs = both.drop_duplicates(CELLS)
    return [
        " / ".join(listed([linked(folder) for folder in folders]) for folders in runs),
        both["what"].iloc[0],
        of,
        *(_estimated(one) for one in sides),
        _difference(*sides, digits_of(_task(both))),
        f"{pairs['holds_counts'].sum()} / {pairs['holds'].sum()} of {len(pairs)}",
        f"{pairs['lost_counts'].sum()} / {pairs['lost'].sum()} of {2 * len(pairs)}",
    ]


def _estimated(pairs: pd.DataFrame) -> str:
    found, _ = estimated(pairs, int(pairs["items"].min()))
    return gains.estimated(found, digits_of(_task(pairs)))


def _untrimmed(both: pd.DataFrame) -> str:
    """The plain mean over settings and seeds, solved otherwise and where it counts."""
    digits = digits_of(_task(both))
    before, after = (signed(100 * float(scores(one)[1][..., 0].mean()), digits) for one in _sides(both))
    return f"{after} where it was {before}"


def _difference(counts: pd.DataFrame, otherwise: pd.DataFrame, digits: int) -> str:
    """By seed, on the test items as they are."""
    first, second = (trimmed(scores(pairs)[1])[:, 0] for pairs in (counts, otherwise))
    return gain(*student(second - first), len(first), digits)
