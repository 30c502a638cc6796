"""What became of the claims, in Markdown: verdicts, each model alone, and what they rest on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.analysis.keys import SETTING
from descent.analysis.sensitivity import ALONE, MEAN, TRIMMED
from descent.analysis.verdicts import LESS, NOT_TESTED, TRIMMED_FROM, matters_little
from descent.analysis.wording import UNIT, UNKNOWN, known, number_of, signed, with_interval, written
from descent.components import TASKS
from descent.config import Params
from descent.published.markdown import pipe

EVERY = "all of it"  # of a part
SAME = "as said of it above"
HERE = "here (95 % interval)"
CLAIM = ("claim", "the paper", "its number", HERE, "matters", "p", "from", "verdict")
HOLD = "feasible: validation / test"
ALONE_IN = ("data set", "claim", HERE, "p", "from", "verdict")  # of `alone`


def brief(card: pd.DataFrame) -> str:
    """The claims in short, a row each: what the paper says, what was found with its interval, what matters, the
    verdict."""
    rows = []
    for row in card.to_dict("records"):
        *_, found, matters, _, _, verdict = _claim(row)
        tables = written(float(row["paper_value"]), row["unit"])
        paper = (
            row["paper"] if tables == UNKNOWN else f"{row['paper']}; in its tables {tables} (over all test noise)"
        )
        rows.append([CLAIMS[row["claim"]].short, paper, found, matters, verdict])
    return pipe(["claim", "the paper", "here", "matters", "verdict"], rows)


def claims(card: pd.DataFrame, verdicts: Sequence[str]) -> str:
    """The claims with one of these verdicts as a table; empty where there are none."""
    rows = card[card["verdict"].isin(verdicts)].to_dict("records")
    return pipe(CLAIM, map(_claim, rows))


def untested(card: pd.DataFrame, params: Params) -> str:
    """What keeps claims from being tested, once for all that it keeps; empty where every claim was tested."""
    own = card[card["verdict"] == NOT_TESTED]
    rows = [[params.in_words(why), "; ".join(kept["statement"])] for why, kept in own.groupby("why", sort=False)]
    return pipe(["why", "claims"], rows)


def _claim(row: Mapping[str, Any]) -> list[str]:
    effect, papers = (written(float(row[key]), row["unit"]) for key in ("effect", "paper_value"))
    words = [row["statement"], row["paper"], papers + _inside(row)]
    if row["verdict"] == NOT_TESTED:
        words += [UNKNOWN, effect, UNKNOWN, UNKNOWN]
    else:
        words += [with_interval(row), effect, known(row["p_holm"], ".2g")]
        words += [f"{number_of(row['settings'], 'setting')}, {number_of(row['seeds'], 'seed')}"]
    verdict = f"**{row['verdict']}**"
    verdict += f", {LESS}" if matters_little(row) else ""
    return [*words, verdict + (f" ({row['why']})" if row["why"] else "")]


def _inside(row: Mapping[str, Any]) -> str:
    """Whether the paper's number lies where one more of our seeds would."""
    if row["verdict"] == NOT_TESTED or pd.isna(row["paper_inside"]):
        return ""
    return " (inside)" if row["paper_inside"] else " (outside)"


def models_alone(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """Each claim on each model alone, a table a claim: those that it rests on, then those that are left out, with
    what they failed; empty where none has a number."""
    statements = dict(zip(card["claim"], card["statement"], strict=True))
    header = ["model", "data sets", HERE, "left out, since"]
    told = []
    known = set()
    for claim, own in models.dropna(subset="estimate").groupby("claim", sort=False):
        rows = []
        for row in sorted(own.to_dict("records"), key=lambda row: row["why"] != ""):
            name = params.label(row["model"])
            why, sets = (params.in_words(row[key]) for key in ("why", "datasets"))
            again = why and (name, sets, why) in known
            known.add((name, sets, why))
            rows.append([name, sets, with_interval(row), SAME if again else why])
        told.append(f"*{statements.get(claim, claim)}*\n\n{pipe(header, rows)}")
    return "\n\n".join(told)


def shifts(card: pd.DataFrame) -> str:
    """In a sentence, what became of the claims on shifts that training has not seen; empty where none is."""
    told = []
    own = card["claim"].map(lambda claim: CLAIMS[claim].shifts) & (card["verdict"] != NOT_TESTED)
    for row in card[own].to_dict("records"):
        task = row["statement"].split(",")[0].lower()
        told.append(f"{task} {with_interval(row)}, *{row['verdict']}*")
    return f"**Under shifts that training has not seen** (beyond the paper): {'; '.join(told)}." if told else ""


def averages(card: pd.DataFrame, found: pd.DataFrame, solver: pd.DataFrame, params: Params) -> str:
    """What each claim of the card says by other averages of its settings, and each setting alone with how many of
    its constrained cells hold (sensitivity.table, solver.by_setting), a table a claim; empty where there is none.
    A claim that was not tested has no average, and a study's cells are not those of the grid."""
    held = solver.set_index(SETTING)
    said = []
    for row in card.to_dict("records"):
        own = found[found["claim"] == row["claim"]]
        if row["verdict"] == NOT_TESTED:
            own = own[own["average"] == ALONE]
        cells = held if CLAIMS[row["claim"]].experiment in TASKS else held[:0]
        rows = [
            [_averaged(one, params), with_interval(one | {"unit": row["unit"]}), _feasible(one, cells)]
            for one in own.to_dict("records")
        ]
        head = f"*{row['statement']}*" + (f" ({NOT_TESTED})" if row["verdict"] == NOT_TESTED else "")
        said += [f"{head}\n\n{pipe(['mean over settings, or one', HERE, HOLD], rows)}"] if rows else []
    return "\n\n".join(said)


def _feasible(row: Mapping[str, Any], held: pd.DataFrame) -> str:
    place = tuple(row[key] for key in SETTING)
    return "{validation:.0f} / {test:.0f} of {cells:.0f}".format(**held.loc[place]) if place in held.index else ""


def by_depth(card: pd.DataFrame, found: pd.DataFrame) -> str:
    """In a sentence, of every tested gain whose settings lie on both sides of zero the least and the largest
    setting at each depth, and of the price on the same models, each with the mean of all settings where the
    protocol's is another; empty where there is no such gain.

    Args:
        found: as of `averages`.
    """
    told = []
    units = card[card["verdict"] != NOT_TESTED].set_index("claim")["unit"]
    for name, unit in units.items():
        if CLAIMS[name].kind != "gain" or not _disagree(own := _settings(found, name)):
            continue
        words = f"*{CLAIMS[name].about}*: {ranges(own, unit)}{_untrimmed(found, name, unit)}"
        if (price := name.replace("_ood", "_cost")) in units:
            words += f", at a price of {ranges(_settings(found, price), unit)}{_untrimmed(found, price, unit)}"
        told.append(words)
    return f"**By depth**: {'. '.join(told)}." if told else ""


def _untrimmed(found: pd.DataFrame, claim: str, unit: str) -> str:
    own = found[(found["claim"] == claim) & (found["average"] == MEAN)]["estimate"]
    return "".join(f", untrimmed {signed(100 * value)} {UNIT[unit]}" for value in own)


def _settings(found: pd.DataFrame, claim: str) -> pd.DataFrame:
    """The rows of a claim's single settings."""
    return found[(found["claim"] == claim) & (found["average"] == ALONE)]


def _disagree(own: pd.DataFrame) -> bool:
    """Whether some settings are better and some are worse, each with its whole interval."""
    return bool((own["low"] > 0).any() and (own["high"] < 0).any())


def ranges(own: pd.DataFrame, unit: str) -> str:
    """The least and the largest `estimate` of settings by their `layers`: `1.2 to 1.4 / -3 to 2 % (L = 3 / 7)`."""
    ends = own.groupby("layers")["estimate"].agg(["min", "max"])
    each = [
        " to ".join(dict.fromkeys(signed(100 * end).removeprefix("+") for end in (row["min"], row["max"])))
        for _, row in ends.iterrows()
    ]
    return f"{' / '.join(each)} {UNIT[unit]} (L = {' / '.join(f'{depth:.0f}' for depth in ends.index)})"


def _averaged(row: Mapping[str, Any], params: Params) -> str:
    if row["average"] == ALONE:
        return f"{params.label(row['dataset'])}, {params.label(row['model'])}, L = {row['layers']:.0f}"
    if row["average"] != TRIMMED:
        return f"{row['average']} over {row['settings']}"
    return f"{'mean' if row['settings'] < TRIMMED_FROM else TRIMMED} over {row['settings']}, the protocol's"


def by_dataset(told: pd.DataFrame, params: Params) -> str:
    """What each data set alone says of the primary claims (scorecard.by_dataset); empty where none was tested."""
    return pipe(ALONE_IN, [alone(row, params) for row in tested(told)])


def tested(card: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The rows of the primary claims that could be tested."""
    yield from card[(card["group"] == "primary") & (card["verdict"] != NOT_TESTED)].to_dict("records")


def alone(row: Mapping[str, Any], params: Params) -> list[str]:
    """One of these in words, with the data set where it is of one."""
    *_, found, _, p, of, verdict = _claim({**row, "why": ""})
    return [params.label(row.get("dataset", EVERY)), CLAIMS[row["claim"]].short, found, p, of, verdict]
