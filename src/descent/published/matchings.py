"""Verdicts on models of unlike seeds under other ways of laying these seeds beside one another.

A mean over settings is taken seed by seed (verdicts). Where models were trained apart, which seed of one stands
beside which of another is free: the verdict has them in their order (parts.joined), and its interval is that of
one matching of many. What others would say is told here, and what a mean says that needs none (unmatched).
They decide no verdict.
"""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis import grounds, preconditions, verdicts
from descent.analysis.claims import CLAIMS
from descent.analysis.keys import VARIANT
from descent.analysis.scorecard import scores
from descent.analysis.verdicts import LEVEL, NARROW, NOT_TESTED, REPRODUCED, VERDICTS, Estimate
from descent.analysis.wording import UNIT, signed
from descent.published.markdown import anchor, listed, pipe
from descent.published.parts import TRAINED_SEED
from descent.published.unmatched import Unmatched

TITLE = "Other matchings of seeds"
MATCHINGS = 2000  # drawn
MIDDLE = (0.025, 0.5, 0.975)
MOST = 0.95  # of the matchings keep a verdict of which nothing need be said
HEADER = (
    "claim",
    "the verdict's matching",
    "others: their median",
    "95 % of their estimates",
    "narrower",
    "within what matters",
    "verdicts",
    "plain mean, no matching",
    "its verdict",
)
WORDS = (
    "The models of these claims were trained apart, not all of the same seeds, and a mean over settings is taken "
    "seed by seed: which seed of one run stands beside which of another is free. The verdict has them in their "
    f"order. Here are {MATCHINGS:,} others, drawn: the median of their estimates and of both ends of their 95 % "
    "intervals; where 95 % of their estimates lie; how many have a narrower interval than the verdict's; of "
    "how many the 90 % interval lies within what matters (of a price: ends below it); and what the verdict "
    "would be, corrected for six claims with the others as they are. Last the plain mean over all settings, "
    "each run's seeds by themselves, which needs no matching, with its 95 % interval (Welch's t; what "
    "items do is added where it adds anything) and the verdict by its t, without the flips of signs that the "
    "protocol asks for too. All of it was worked out after the verdicts were known, and decides none."
)


def table(pairs: pd.DataFrame, facts: pd.DataFrame, card: pd.DataFrame) -> pd.DataFrame:
    """A row for each primary claim that was tested and whose settings are of unlike seeds.

    Columns: `claim`; `statement`; `unit`; its `verdict`; of the matchings the medians of `estimate`, `low` and
    `high` (LEVEL), and between which two values 95 % of the estimates lie, `least` and `most`; `narrower`, the
    share of them with a narrower interval than the verdict's; `within`, that of those whose NARROW interval lies
    within the effect, of a cost below it; the numbers of the verdict, `<column>_told`, and of the mean that needs
    no matching, `<column>_plain`, with its corrected `p_plain` and what it would be judged, `verdict_plain`;
    `low_items` and `high_items`, the verdict's interval with what items do (B of `verdicts`) for a floor of its
    variance, NaN where it lies above; and a column a verdict, its share.

    Args:
        pairs, facts: as parts.joined gives them.
        card: scorecard.judged of the two.
    """
    judged = card[(card["group"] == "primary") & (card["verdict"] != NOT_TESTED)]
    rows = [
        _row(own, items, row, card)
        for row in judged.to_dict("records")
        for own, items in _unlike(pairs, facts, row["claim"])
    ]
    return pd.DataFrame(rows)


def markdown(found: pd.DataFrame) -> str:
    """The table for a reader, beneath what it is; empty where no claim has such settings."""
    rows = []
    for row in found.to_dict("records"):
        shares = [f"{100 * row[verdict]:.0f} % {verdict}" for verdict in VERDICTS if row[verdict] > 0]
        told, others, plain = (_interval(row, of) for of in ("_told", "", "_plain"))
        spread = f"{signed(100 * row['least'], 2)} to {signed(100 * row['most'], 2)}"
        narrower, within = (f"{100 * row[name]:.1f} %" for name in ("narrower", "within"))
        rows.append(
            [row["statement"], told, others, spread, narrower, within, listed(shares), plain, row["verdict_plain"]]
        )
    narrow = [f"*{row['statement']}*. {words}" for row in found.to_dict("records") if (words := _narrow(row))]
    return "\n\n".join([WORDS, pipe(HEADER, rows), *narrow]) if rows else ""


def least(found: pd.DataFrame) -> float:
    """The smallest share of matchings in which a claim is reproduced that the verdict's finds reproduced; 1 for
    none."""
    own = found[found["verdict"] == REPRODUCED] if len(found) else found
    return float(own[REPRODUCED].min()) if len(own) else 1.0


def sentence(found: pd.DataFrame, page: str) -> str:
    """Which verdicts other matchings do not keep, what they say, and the plain mean; empty where MOST of them do.

    Args:
        page: where the table stands.
    """
    others = f"Of {MATCHINGS:,} [other matchings]({page}#{anchor(TITLE)})"
    said = []
    for row in found.to_dict("records"):
        own = row["verdict"]
        if row[own] < MOST:
            rest = [f"{100 * row[word]:.0f} % *{word}*" for word in VERDICTS if row[word] > 0 and word != own]
            plain = _interval(row, "_plain").replace("+", "")
            said.append(
                f"**{CLAIMS[row['claim']].short}: that it is *{own}* depends on which seed of one run is set "
                f"beside which of another.** {others} {100 * row[own]:.0f} % give *{own}* and {listed(rest)}. "
                f"A plain mean over settings needs no matching: {plain} {UNIT[row['unit']]}, "
                f"*{row['verdict_plain']}*. {_narrow(row)}".strip()
            )
    return " ".join(said)


def _unlike(pairs: pd.DataFrame, facts: pd.DataFrame, claim: str) -> Iterator[tuple[pd.DataFrame, int]]:
    """The pairs that a claim is judged on, with how many items are drawn again; nothing where all settings have
    the same seeds."""
    told = facts[facts["claim"] == claim]
    own = preconditions.common(grounds.left_in(pairs[pairs["claim"] == claim], grounds.passing(told)))
    if own["part"].nunique() > 1 and (own["seed"] != own[TRAINED_SEED]).any():
        yield own, int(told.loc[told["model"] == grounds.WHOLE, "resampled"].item())


def _row(own: pd.DataFrame, items: int, row: Mapping[Hashable, Any], card: pd.DataFrame) -> dict[str, object]:
    settings, effects = scores(own)
    part_of = own.groupby(VARIANT)["part"].first()
    parts = part_of.loc[list(settings.itertuples(index=False, name=None))].to_numpy()
    found = Estimate.of(_rematched(effects, parts), items)
    low, high = found.interval(LEVEL)
    least, _, most = np.quantile(found.value, MIDDLE)
    null = row["effect"] if row["kind"] == "cost" else 0.0
    p = np.maximum(found.p(null), verdicts.sign_flip(found.by_seed - null))
    shares = pd.Series(_decided(found, _corrected(p, card, row["claim"]), row)).value_counts(normalize=True)
    medians = {"estimate": np.median(found.value), "low": np.median(low), "high": np.median(high)}
    told = {f"{name}_told": row[name] for name in medians}
    without = Unmatched.over(effects, list(parts), items)
    alone = _corrected(without.p(null), card, row["claim"])
    plain = dict(zip([f"{name}_plain" for name in medians], without.numbers(), strict=True))
    narrower = (high - low < told["high_told"] - told["low_told"]).mean()
    same = {name: row[name] for name in ("claim", "statement", "unit", "verdict")}
    low90, high90 = found.interval(NARROW)
    within = (high90 < row["effect"]) & ((row["kind"] == "cost") | (low90 > -row["effect"]))
    return (
        same
        | told
        | medians
        | plain
        | {"p_plain": alone.item(), "verdict_plain": _decided(without, alone, row).item()}
        | _floored(Estimate.of(verdicts.trimmed(effects), items))
        | {"least": least, "most": most, "narrower": narrower, "within": within.mean()}
        | {verdict: float(shares.get(verdict, 0.0)) for verdict in VERDICTS}
    )


def _floored(told: Estimate) -> dict[str, float]:
    """The verdict's interval with B for its variance where that is the larger: Student's, of K - 1."""
    half = verdicts.half_width(np.sqrt(told.items), told.seeds) if told.items > told.error**2 else np.nan
    return {"low_items": float(told.value - half), "high_items": float(told.value + half)}


def _rematched(
    effects: Float[np.ndarray, "settings seeds resamples"], parts: np.ndarray
) -> Float[np.ndarray, "matchings seeds resamples"]:
    """The trimmed mean over settings of MATCHINGS orders of each part's seeds; the settings of a part stay beside
    one another, as one seed trained them."""
    draw = np.random.default_rng(0)
    means = []
    for _ in range(MATCHINGS):
        shuffled = effects.copy()
        for part in dict.fromkeys(parts):  # in the order of the settings, not of the names of runs
            of_part = parts == part
            shuffled[of_part] = effects[of_part][:, draw.permutation(effects.shape[1])]
        means.append(verdicts.trimmed(shuffled))
    return np.stack(means)


def _corrected(p: np.ndarray, card: pd.DataFrame, claim: str) -> Float[np.ndarray, " estimates"]:
    """Holm's p of each of these among the other primary claims as they are."""
    others = card[(card["group"] == "primary") & (card["claim"] != claim)]
    family = np.maximum(others["p"], others["p_exact"]).where(others["verdict"] != NOT_TESTED)
    beside = np.broadcast_to(family.to_numpy(float), (p.size, len(family)))
    return verdicts.holm(np.column_stack([np.atleast_1d(p), beside]))[:, 0]


def _decided(found: Estimate, p_holm: np.ndarray, row: Mapping[Hashable, Any]) -> np.ndarray:
    """The verdict of each estimate, by the protocol's rule."""
    (low, high), (low90, high90) = (found.interval(level) for level in (LEVEL, NARROW))
    numbers = {"estimate": found.value, "low": low, "high": high, "low90": low90, "high90": high90}
    told = pd.DataFrame({name: np.atleast_1d(of) for name, of in numbers.items()})
    return verdicts.decide(told.assign(p_holm=p_holm, kind=row["kind"], effect=row["effect"], why=""))


def _narrow(row: Mapping[Hashable, Any]) -> str:
    """That the verdict's interval is narrower than what items alone allow, where it is."""
    if np.isnan(row["low_items"]):
        return ""
    low, high = (signed(100 * row[f"{end}_items"], 2).removeprefix("+") for end in ("low", "high"))
    return (
        "The verdict's interval is narrower than the choice of test items alone would make it; with that for "
        f"a floor it is {low} to {high}."
    )


def _interval(row: Mapping[Hashable, Any], of: str) -> str:
    told, low, high = (signed(100 * row[f"{name}{of}"], 2) for name in ("estimate", "low", "high"))
    return f"{told} ({low} to {high})"
