"""What became of the claims, in Markdown: verdicts, each model alone, and what they rest on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.analysis.keys import PLACE, SETTING
from descent.analysis.sensitivity import ALONE, MEAN, TRIMMED, UNTRIMMED
from descent.analysis.verdicts import LESS, NOT_TESTED, matters_little
from descent.analysis.wording import UNKNOWN, known, number_of, signed, with_interval, written
from descent.components import TASKS
from descent.config import Params
from descent.published.markdown import pipe

EVERY = "all of it"  # of a part
SAME = "as said of it above"
UNIT = {"percent": "%", "points": "points"}
CLAIM = (
    "claim",
    "the paper",
    "its number",
    "here",
    "95 % interval",
    "effect, margin or bound",
    "p",
    "from",
    "verdict",
)


def brief(card: pd.DataFrame) -> str:
    """The claims in short, a row each: what the paper says, what was found with its interval, what matters, the
    verdict."""
    rows = []
    for row in card.to_dict("records"):
        words = _claim(row)
        found = UNKNOWN if row["verdict"] == NOT_TESTED else with_interval(row)
        tables = written(float(row["paper_value"]), row["unit"])
        paper = row["paper"] if tables == UNKNOWN else f"{row['paper']}; in its tables {tables}"
        rows.append([CLAIMS[row["claim"]].short, paper, found, words[5], words[-1]])
    return pipe(["claim", "the paper", "here", "matters", "verdict"], rows)


def claims(card: pd.DataFrame, verdicts: Sequence[str]) -> str:
    """The claims with one of these verdicts as a table; empty where there are none."""
    rows = card[card["verdict"].isin(verdicts)].to_dict("records")
    return pipe(CLAIM, [_claim(row) for row in rows]) if rows else ""


def untested(card: pd.DataFrame, params: Params) -> str:
    """What keeps claims from being tested, once for all that it keeps; empty where every claim was tested."""
    own = card[card["verdict"] == NOT_TESTED].fillna({"why": ""})
    rows = [[params.in_words(why), "; ".join(kept["statement"])] for why, kept in own.groupby("why", sort=False)]
    return pipe(["why", "claims"], rows) if rows else ""


def _claim(row: Mapping[str, Any]) -> list[str]:
    number = {
        key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high", "effect", "paper_value")
    }
    why = row["why"] if isinstance(row["why"], str) else ""
    words = [row["statement"], row["paper"], number["paper_value"] + _inside(row)]
    if row["verdict"] == NOT_TESTED:
        words += [UNKNOWN, UNKNOWN, number["effect"], UNKNOWN, UNKNOWN]
    else:
        words += [number["estimate"], f"{number['low']} to {number['high']}", number["effect"]]
        words += [known(row["p_holm"], ".2g")]
        words += [f"{number_of(row['settings'], 'setting')}, {number_of(row['seeds'], 'seed')}"]
    verdict = f"**{row['verdict']}**"
    verdict += f", {LESS}" if matters_little(row) else ""
    return [*words, verdict + (f" ({why})" if why else "")]


def _inside(row: Mapping[str, Any]) -> str:
    """Whether the paper's number lies where one more of our seeds would."""
    if row["verdict"] == NOT_TESTED or pd.isna(row["paper_inside"]):
        return ""
    return " (inside)" if row["paper_inside"] else " (outside)"


def models_alone(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """The claims on each model alone, where it passes and where it does not, with what it failed; empty where none
    has a number."""
    statements = dict(zip(card["claim"], card["statement"], strict=True))
    header = ["claim", "model", "data sets", "here", "95 % interval", "left out of the claim, since"]
    told = []
    known = set()
    for row in models.dropna(subset="estimate").to_dict("records"):
        number = {key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high")}
        name = params.label(row["model"])
        claim = statements.get(row["claim"], row["claim"])
        why, sets = (params.in_words(row[key]) for key in ("why", "datasets"))
        again = why and (name, sets, why) in known
        known.add((name, sets, why))
        interval = f"{number['low']} to {number['high']}"
        told.append([claim, name, sets, number["estimate"], interval, SAME if again else why])
    return pipe(header, told) if told else ""


def left_out(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """In a sentence, what the models gain that a precondition keeps out of a gain that was tested; empty
    where it keeps out none. They might be the better half, which only the whole list shows."""
    tested = card.loc[(card["group"] == "primary") & (card["verdict"] != NOT_TESTED), "claim"]
    bases = [name for name in tested if CLAIMS[name].kind == "gain" and CLAIMS[name].experiment in TASKS]
    own = (
        models[models["claim"].str.startswith(tuple(bases)) & (models["why"].fillna("") != "")]
        if bases
        else models[:0]
    )
    told = []
    for row in own.dropna(subset="estimate").sort_values("estimate", ascending=False).to_dict("records"):
        sets = params.in_words(row["datasets"])
        unit = UNIT[row["unit"]]
        value, low, high = (signed(100 * row[key]) for key in ("estimate", "low", "high"))
        aside = "" if row["claim"] in bases or CLAIMS[row["claim"]].capacity else ", more capacity in our arm"
        told.append(f"{value} {unit} ({low} to {high}; {params.label(row['model'])} on {sets}{aside})")
    head = (
        "**Models that a precondition keeps out** (why: *each model alone*, below; exploratory) gain "
        "out of distribution, or lose where the number is negative:"
    )
    return f"{head} {'; '.join(told)}." if told else ""


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
    its constrained cells hold (sensitivity.table, solver.by_setting); empty where there is none. A claim that
    was not tested has no average, and a study's cells are not those of the grid."""
    units = card.set_index("claim")[["statement", "unit", "verdict"]]
    rows = []
    held = solver.set_index(SETTING)
    for row in found[found["claim"].isin(units.index)].to_dict("records"):
        statement, unit, verdict = units.loc[row["claim"]]
        if verdict == NOT_TESTED and row["average"] != ALONE:
            continue
        statement += f" ({NOT_TESTED})" if verdict == NOT_TESTED else ""
        place = tuple(row[key] for key in SETTING)
        estimate, low, high = (written(float(row[key]), unit) for key in ("estimate", "low", "high"))
        of_grid = CLAIMS[row["claim"]].experiment in TASKS and place in held.index
        cells = held.loc[place] if of_grid else None
        feasible = "" if cells is None else "{validation:.0f} / {test:.0f} of {cells:.0f}".format(**cells)
        rows.append([statement, _averaged(row, params), estimate, f"{low} to {high}", feasible])
    header = ["claim", "mean over settings, or one", "here", "95 % interval", "feasible: validation / test"]
    return pipe(header, rows) if rows else ""


def apart(card: pd.DataFrame, found: pd.DataFrame, params: Params) -> str:
    """In a sentence, the settings of every tested claim of which some are better and some are worse, each with its
    whole interval: a mean over them hides both. Empty where no claim has such.

    Args:
        found: as of `averages`.
    """
    told = []
    for row in card[card["verdict"] != NOT_TESTED].to_dict("records"):
        own = _settings(found, row["claim"])
        if not _disagree(own):
            continue
        each = [_depths(depths, row["unit"], params) for _, depths in own.groupby(PLACE, sort=False)]
        plain = found[(found["claim"] == row["claim"]) & (found["average"] == MEAN)]["estimate"]
        beside = "".join(f"; untrimmed, their mean is {written(value, row['unit'])}" for value in plain)
        told.append(f"*{row['statement']}*: {'; '.join(each)}{beside}")
    return f"**Settings disagree**, so that the mean says little: {'. '.join(told)}." if told else ""


def by_depth(card: pd.DataFrame, found: pd.DataFrame) -> str:
    """In a sentence, of every tested gain whose settings lie on both sides of zero the least and the largest
    setting at each depth, and of the price on the same models; empty where there is no such gain.

    Args:
        found: as of `averages`.
    """
    told = []
    units = card[card["verdict"] != NOT_TESTED].set_index("claim")["unit"]
    for name, unit in units.items():
        if CLAIMS[name].kind != "gain" or not _disagree(own := _settings(found, name)):
            continue
        words = f"*{CLAIMS[name].about}*: {ranges(own, unit)}"
        price = name.replace("_ood", "_cost")
        words += f", at a price of {ranges(_settings(found, price), unit)}" if price in units else ""
        told.append(words)
    return f"**By depth**: {'. '.join(told)}." if told else ""


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


def _depths(own: pd.DataFrame, unit: str, params: Params) -> str:
    """The settings of one model on one data set, from the shallowest: `UT on UCSD 1.2 / -4 % (L = 3 / 7)`."""
    own = own.sort_values("layers")
    place = params.in_words(f"{own['model'].iloc[0]} on {own['dataset'].iloc[0]}")
    values = [written(value, unit).split(" ") for value in own["estimate"]]
    numbers, depths = (
        " / ".join(number for number, *_ in values),
        " / ".join(f"{one:.0f}" for one in own["layers"]),
    )
    return f"{place} {' '.join([numbers, *values[0][1:]])} (L = {depths})"


def _averaged(row: Mapping[str, Any], params: Params) -> str:
    if row["average"] == ALONE:
        return f"{params.label(row['dataset'])}, {params.label(row['model'])}, L = {row['layers']:.0f}"
    if row["average"] != TRIMMED:
        return f"{row['average']} over {row['settings']}"
    return f"{'mean' if row['settings'] < UNTRIMMED else TRIMMED} over {row['settings']}, the protocol's"


def by_dataset(told: pd.DataFrame, params: Params) -> str:
    """What each data set alone says of the primary claims (scorecard.by_dataset); empty where none was tested."""
    header = ["data set", "claim", "here", "95 % interval", "p", "from", "verdict"]
    rows = [alone(row, params) for row in tested(told)]
    return pipe(header, rows) if rows else ""


def tested(card: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The rows of the primary claims that could be tested."""
    yield from card[(card["group"] == "primary") & (card["verdict"] != NOT_TESTED)].to_dict("records")


def alone(row: Mapping[str, Any], params: Params) -> list[str]:
    """One of these in words, with the data set where it is of one."""
    words = _claim({**row, "why": ""})
    return [params.label(row.get("dataset", EVERY)), row["statement"], *words[3:5], *words[6:]]
