"""What the primary claims would read if models solved otherwise stood in the place of those that count.

The pairs that a run judged alone has of settings that a claim is judged on (otherwise.beside) are put where theirs
are, and the claims are judged anew, all of them, since Holm's correction is of their family. What the run would
have to meet to count (preconditions, trials of its rates) is not asked, and no verdict is decided by it.
"""

from collections.abc import Iterator

import pandas as pd

from descent.analysis import scorecard
from descent.analysis.claims import CLAIMS
from descent.analysis.keys import VARIANT
from descent.analysis.verdicts import NOT_TESTED
from descent.analysis.wording import digits_of, signed, unit_of
from descent.published.markdown import linked, listed, pipe
from descent.published.otherwise import SAME, Found

TITLE = "With models solved otherwise in the place of those that count"
HEADER = ("run", "otherwise", "settings", "claim", "as it is", "verdict", "with it in place", "it would be")
WORDS = (
    "Each run that was announced to be judged alone and trained settings of a claim with another solver, the same "
    "seeds in the place of theirs. What a run must meet to count is not asked of these, they were chosen with the "
    "verdicts known, and they decide none."
)


def table(found: Found, pairs: pd.DataFrame, facts: pd.DataFrame, card: pd.DataFrame) -> pd.DataFrame:
    """A row for each way of solving otherwise and each primary claim that was tested.

    Columns: `folders` of the runs, a tuple; `what` is solved otherwise; in how many settings, `replaced`, `of` how
    many of the claim's; the claim's as it is (scorecard.judged) and, `<column>_instead`, with these in place.

    Args:
        found: otherwise.beside of the same pairs and facts.
        pairs, facts: as parts.joined gives them.
        card: scorecard.judged of the two.
    """
    told = card.set_index("claim")
    rows = []
    for what, folders, both in _runs(found):
        instead = scorecard.judged(_replaced(pairs, both), facts).set_index("claim")
        for claim, own in both.groupby("claim", sort=False):
            if told.loc[claim, "verdict"] == NOT_TESTED:
                continue
            replaced = len(own[VARIANT].drop_duplicates())
            rows.append(
                {"claim": claim, "what": what, "folders": folders, "replaced": replaced, "of": own["of"].iloc[0]}
                | dict(told.loc[claim])
                | dict(instead.loc[claim].add_suffix("_instead"))
            )
    return pd.DataFrame(rows)


def markdown(rows: pd.DataFrame) -> str:
    """The table for a reader, beneath what it is; empty where there is nothing."""
    lines = [
        [
            listed([linked(folder) for folder in row["folders"]]),
            row["what"],
            f"{row['replaced']} of {row['of']}",
            row["statement"],
            _interval(row, ""),
            f"*{row['verdict']}*",
            _interval(row, "_instead"),
            f"*{row['verdict_instead']}*",
        ]
        for row in rows.to_dict("records")
    ]
    return f"{WORDS}\n\n{pipe(HEADER, lines)}" if lines else ""


def _runs(found: Found) -> Iterator[tuple[str, tuple, pd.DataFrame]]:
    """The pairs of all claims by what is solved otherwise and by which runs."""
    solvers = [both for claim in found.values() for both in claim]
    together: dict[tuple[str, tuple], list[pd.DataFrame]] = {}
    for both in solvers:
        together.setdefault((both["what"].iloc[0], tuple(dict.fromkeys(both["folder"]))), []).append(both)
    for (what, folders), own in together.items():
        yield what, folders, pd.concat(own, ignore_index=True)


def _replaced(pairs: pd.DataFrame, both: pd.DataFrame) -> pd.DataFrame:
    """The pairs, of those that were solved otherwise the other effects."""
    key = [*SAME, "part"]
    others = both.set_index(key)["effect"]
    held = pd.MultiIndex.from_frame(pairs[key])
    return pairs.assign(effect=others.reindex(held).fillna(pairs["effect"].set_axis(held)).to_numpy())


def _interval(row: dict, of: str) -> str:
    task = CLAIMS[row["claim"]].experiment
    value, low, high = (signed(100 * row[f"{name}{of}"], digits_of(task)) for name in ("estimate", "low", "high"))
    return f"{value} ({low} to {high}) {unit_of(task)}"
