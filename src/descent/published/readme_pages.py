"""What the README begins with, and the page beside the published parts on what it rests on, in Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from descent.analysis.keys import PLACE
from descent.analysis.verdicts import NOT_TESTED, REPRODUCED, VERDICTS
from descent.analysis.wording import number_of
from descent.components import TASKS
from descent.config import Params
from descent.published import (
    by_noise,
    each_part,
    files,
    gray_levels,
    judged,
    judged_alone,
    matchings,
    parts,
    sections,
    solver,
    trained,
)
from descent.published.markdown import linked, listed

LEGEND = (
    "*ERM*: plain training, the last layer's loss alone. A gain is positive where constrained training is better "
    "than ERM, a price where it is worse. *Out of distribution*: test noise above that of training. *Its number*: "
    "worked out from the paper's tables, over all test noise; *outside*: outside the range in which one more seed "
    "of ours is expected (95 %). *Matters*: an effect, margin or bound, fixed before the runs (a mean where "
    "models differ in it). *p*: corrected for six claims (Holm); of eight seeds the smallest is .047 (6 x 2/256), "
    "where all have one sign. *Setting*: a data set, model and depth. *Not tested*: one of the protocol's "
    "preconditions does not hold."
)
SEEN = (
    "the primary claims: effects with 95 % intervals in multiples of what matters, and those of the paper's tables"
)
MODELS = "the primary claims and each of their models: estimates with 95 % intervals, and the paper's values"
CAPTION = (
    "*Each line: an effect and its 95 % interval in multiples of what matters; right is better, so a price is "
    "drawn to the left; diamond: from the paper's tables.* In the table a gain is positive where constrained "
    "training is better, a price where it is worse; in brackets the 95 % interval; *matters*: the smallest gain "
    "of interest, or the largest price that counts as small, fixed before the runs. Of *equal capacity* are two "
    "models with equally many weights."
)
BRIEF = (
    "Of errors gain and price are 100 ln of their ratio, in %. Intervals are over seeds and test items (of "
    "video blocks of frames of few clips, so that nothing is said of other scenes). Points are of accuracy. A "
    "mean over more than three settings is trimmed: without the largest and smallest quarter. *In its tables*: "
    "the same mean of the paper's UT, over all test noise. The verdict is the first that fits. *Reproduced*: "
    "the interval of a gain lies above zero and its estimate reaches what matters, or the 90 % one of a price "
    "lies below what matters. *No effect of interest*: a gain's whole 90 % interval is within what matters, up "
    "and down. *Reversed*: a gain's interval lies below zero. *Not reproduced*: a price's lies above what "
    "matters. *Cannot tell*: all else. *No effect of interest* and *cannot tell* apart, each asks for p < .05 "
    "too, after a correction for six claims."
)
FOLDED = "<details><summary>How to read it</summary>\n\n{}\n\n</details>"
FEW = (
    "Of a share of settings, that it lies above 90 % takes 36 settings to tell, all of them: *cannot tell* of "
    "fewer says nothing against it."
)
UNTESTED = "*Not tested*: a precondition that was fixed before the runs does not hold."
UNCOUNTED = "Models of runs that were announced to be judged alone are not counted here."
PARTS = "README.md"  # beside the published parts
REASONS = """What the verdicts on the first screen of the [README](../../README.md) rest on, of all runs of
profile `{profile}`; written by `make evidence` from the tables in the folders beside this file. How claims are
judged: [PROTOCOL.md](PROTOCOL.md); the numbers: `claims.csv` and `sensitivity.csv`."""


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on all published parts of a profile, and what they were judged from.

    Attributes:
        folders: of the parts that are judged together, relative to the README; beside them protocol and pictures.
        apart: of the runs that are judged alone.
        card, models: the scorecard, and its claims on each model alone.
        averages: what it was judged from, by other averages (sensitivity.table).
        cells: those of the parts that are judged together (parts.counted).
    """

    params: Params
    folders: Sequence[Path]
    apart: Sequence[Path]
    card: pd.DataFrame
    models: pd.DataFrame
    averages: pd.DataFrame
    cells: pd.DataFrame

    @property
    def primary(self) -> pd.DataFrame:
        """The primary claims."""
        return self.card[self.card["group"] == "primary"]

    @property
    def own(self) -> pd.DataFrame:
        """They and what varies them, on each model alone."""
        return self.models[self.models["claim"].str.startswith(tuple(self.primary["claim"]))]

    @property
    def places_behind(self) -> set[tuple[str, str]]:
        """The data sets and models that their verdicts rest on."""
        return each_part.places_behind(self.primary, self.own)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """What our arm gains at each level of the test noise (by_noise.found)."""
        return by_noise.found(self.folders, self.params)


def first_screen(told: Verdicts, matched: str) -> str:
    """How many primary claims are reproduced; a picture of them, the verdicts, how to read them, and the scope.

    Args:
        matched: which verdicts hang on how seeds are matched (matchings.sentence); empty for none.
    """
    params, primary, place = told.params, told.primary, told.folders[0].parent.as_posix()
    paragraphs = [
        _outcome(primary),
        f"![{SEEN}]({place}/fig_verdicts.png)",
        CAPTION,
        judged.brief(primary.assign(why=_short(primary, told.own, f"{place}/{PARTS}", params))),
        matched,
        FOLDED.format(BRIEF + (f" {UNTESTED}" if (primary["verdict"] == NOT_TESTED).any() else "")),
        f"{_scope(told)} [What the verdicts rest on]({place}/{PARTS}): every model, data set, "
        "setting and published run by itself, what the means hide, and what was left out; [how claims are "
        f"judged]({place}/PROTOCOL.md).",
    ]
    return "\n\n".join(filter(None, paragraphs))


def behind(told: Verdicts, otherwise: str, matched: str) -> str:
    """The page beside the published runs: the verdicts in full and what their means hide (depths, test noise, the
    measure, another solver, margins, other shifts), descent and constraints, each model
    alone, each run, gains at one learning rate, other averages and each setting, other matchings of seeds, errors
    by test noise and in gray levels.

    Args:
        otherwise: a sentence on the same settings with another solver (otherwise.sentence); empty for none.
        matched: what other matchings of seeds would say (matchings.markdown); empty for none.
    """
    params, primary, own, every = told.params, told.primary, told.own, [*told.folders, *told.apart]
    below = "#each-model-alone-and-what-keeps-it-out-of-a-claim"
    brief = primary.assign(why=_short(primary, own, below, params))
    solved = solver.by_setting(told.cells, params)
    chapters = {
        "The primary claims": f"{judged.claims(brief, brief['verdict'].tolist())}\n\n{LEGEND}\n\n"
        f"![{MODELS}](fig_forest.png)",
        "What their means hide": "\n".join(f"- {words}" for words in _hidden(told, otherwise)),
        "The other claims, exploratory": _others(told.card[told.card["group"] != "primary"]),
        "Not tested": judged.untested(told.card, params),
        "At one learning rate": each_part.by_rate(every, params),
        "The published runs": _published(told),
        "Descent": trained.descending(told.cells, params) + (f"\n\n{UNCOUNTED}" if told.apart else ""),
        "Constraints": "\n\n".join(filter(None, _held_to(told, solved))),
        "Each model alone, and what keeps it out of a claim": judged.models_alone(told.card, own, params),
        "Each published run, and each data set of one that has several, by itself": each_part.table(
            told.folders, told.apart, params
        ),
        "Other averages, and each setting": judged.averages(primary, told.averages, solved, params),
        matchings.TITLE: matched,
        "By test noise": by_noise.tables(told.levels, params),
        "In gray levels": gray_levels.table(told.cells, params),
    }
    texts = [f"## {title}\n\n{text}" for title, text in chapters.items() if text]
    return "\n\n".join(["# What the verdicts rest on", REASONS.format(profile=params.profile), *texts]) + "\n"


def _hidden(told: Verdicts, otherwise: str) -> Iterable[str]:
    """What the means of the verdicts hide, a sentence each."""
    said = [
        judged.by_depth(told.primary, told.averages),
        by_noise.across(told.levels, told.primary, told.own, told.params),
        gray_levels.across(told.cells, told.primary, told.own, told.params),
        otherwise,
        trained.descent(told.cells, told.places_behind, told.params),
        each_part.margins(told.folders, told.primary, told.own, told.params),
        judged.shifts(told.card),
        judged_alone.sentence(told.apart, told.params),
    ]
    return filter(None, said)


def _held_to(told: Verdicts, solved: pd.DataFrame) -> Iterable[str]:
    """How the constraints were asked for and how they hold, a paragraph or table each."""
    yield trained.held_in_all(solver.by_setting(trained.each_once(told.cells), told.params), told.params)
    yield trained.solvers(told.folders, told.places_behind, told.params)
    yield trained.constraints(solver.by_tolerance(told.cells, told.params), told.params)
    yield trained.holding(solved, told.params)


def _others(card: pd.DataFrame) -> str:
    """The claims that are not primary and could be tested; empty where there are none."""
    told = judged.claims(card, [verdict for verdict in VERDICTS if verdict != NOT_TESTED])
    shares = (card["kind"] == "share") & (card["verdict"] != NOT_TESTED)
    return f"{told}\n\n{FEW}" if shares.any() else told


def _published(told: Verdicts) -> str:
    """How many there are, and what of them no longer counts where another run holds it too."""
    folders = told.folders
    gone: dict[str, list[str]] = {}
    for data, model, number in sorted(parts.replaced(folders)):
        gone.setdefault(linked(folders[number]), []).append(told.params.in_words(f"{model} on {data}"))
    words = (f"\n- in {run} {listed(places)}" for run, places in sorted(gone.items()))
    left = f"\n\nNot counted, as a longer or better tuned run holds it too:\n{''.join(words)}" if gone else ""
    alone = f", and {number_of(len(told.apart), 'run')} judged alone" if told.apart else ""
    counts = f"{number_of(len(folders), 'run')} judged together{alone}"
    return f"{counts}: [every run](RUNS.md#every-run).{left}"


def _outcome(primary: pd.DataFrame) -> str:
    """How many of the paper's primary claims are reproduced, what became of the others, and from how much."""
    tested = primary[primary["verdict"] != NOT_TESTED]
    if tested.empty:
        return (
            f"**None of the paper's {len(primary)} primary claims could be tested on real data yet.** Below is "
            "why, and what each model shows alone."
        )
    settings, most = (int(tested[name].max()) for name in ("settings", "seeds"))
    seeds = str(most) if (fewest := int(tested["seeds"].min())) == most else f"{fewest} to {most}"
    counts = tested["verdict"].value_counts()
    reproduced = counts.get(REPRODUCED, 0)
    be = "is" if reproduced == 1 else "are"
    others = [f"{counts[verdict]} *{verdict}*" for verdict in VERDICTS[1:] if verdict in counts]
    others += [f"{left} *{NOT_TESTED}*"] if (left := len(primary) - len(tested)) else []
    rest = f" The others: {listed(others)}." if others else ""
    return (
        f"**{len(primary)} of the paper's claims were chosen before the runs; {reproduced or 'none'} {be} "
        f"reproduced on real data.**{rest} Behind a claim stand {seeds} seeds and up to "
        f"{number_of(settings, 'setting')} (a setting is a data set, a model and a depth, at one training noise)."
    )


def _scope(told: Verdicts) -> str:
    """The models and data sets that the verdicts rest on, with the runs that trained them."""
    grid = told.cells[told.cells["experiment"].isin(TASKS)]
    part_of = grid.groupby(PLACE)["part"].first().to_dict()
    sets: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for dataset, model in sorted(told.places_behind, key=lambda place: place[::-1]):
        name = told.params.label(dataset)
        if (part := part_of.get((dataset, model))) is not None:  # a claim may rest on a study alone
            folder = told.folders[part]
            name = f"[{name}]({folder.as_posix()}/REPORT.md)"
        sets.setdefault(model, []).append(name)
        whose = told.params if part is None else files.params(told.folders[part])
        names[model] = sections.weighted(whose, model)
    words = [f"{names[model]} on {listed(own)}" for model, own in sets.items()]
    return f"Tested: {'; '.join(words)}." if words else ""


def _short(primary: pd.DataFrame, own: pd.DataFrame, page: str, params: Params) -> list[str]:
    """Why each claim was not tested: where several models were left out, how many, and where their reasons are."""
    fails = own.assign(fails=own["why"].fillna("") != "").groupby("claim")["fails"].all()
    models = own.groupby("claim")["model"].nunique()
    told = zip(primary["claim"], primary["why"].fillna(""), primary["verdict"], strict=True)
    return [
        f"none of its {models[claim]} models meets the preconditions, [why]({page})"
        if verdict == NOT_TESTED and fails.get(claim, False) and models[claim] > 1
        else params.in_words(why)
        for claim, why, verdict in told
    ]
