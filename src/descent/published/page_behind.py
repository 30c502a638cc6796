"""The page beside the published parts on what the verdicts rest on, in Markdown."""

from collections.abc import Iterable

import pandas as pd

from descent.analysis.verdicts import NOT_TESTED, VERDICTS
from descent.analysis.wording import number_of
from descent.published import (
    by_noise,
    each_part,
    gray_levels,
    in_place,
    judged,
    judged_alone,
    matchings,
    parts,
    solver,
    trained,
)
from descent.published.markdown import linked, listed
from descent.published.told import Verdicts

LEGEND = (
    "*ERM*: plain training, the last layer's loss alone. A gain is positive where constrained training is better "
    "than ERM, a price where it is worse. *Out of distribution*: test noise above that of training. *Its number*: "
    "worked out from the paper's tables, over all test noise; *outside*: outside the range in which one more seed "
    "of ours is expected (95 %). *Matters*: an effect, margin or bound, fixed before the runs (a mean where "
    "models differ in it). *p*: corrected for six claims (Holm); of eight seeds the smallest is .047 (6 x 2/256), "
    "where all have one sign. *Setting*: a data set, model and depth. *Not tested*: one of the protocol's "
    "preconditions does not hold."
)
MODELS = "the primary claims and each of their models: estimates with 95 % intervals, and the paper's values"
FEW = (
    "Of a share of settings, that it lies above 90 % takes 36 settings to tell, all of them: *cannot tell* of "
    "fewer says nothing against it."
)
UNCOUNTED = "Models of runs that were announced to be judged alone are not counted here."
REASONS = """What the verdicts on the first screen of the [README](../../README.md) rest on, of all runs of
profile `{profile}`; written by `make evidence` from the tables in the folders beside this file. How claims are
judged: [PROTOCOL.md](PROTOCOL.md); the numbers: `claims.csv` and `sensitivity.csv`."""


def page(told: Verdicts, otherwise: str, instead: str, matched: str) -> str:
    """The page beside the published runs: the verdicts in full and what their means hide (depths, test noise, the
    measure, another solver, margins, other shifts), descent and constraints, each model
    alone, each run, gains at one learning rate, other averages and each setting, models solved otherwise in the
    place of those that count, other matchings of seeds, errors by test noise and in gray levels.

    Args:
        otherwise: a sentence on the same settings with another solver (otherwise.sentence); empty for none.
        instead: what claims would read with that in place (in_place.markdown); empty for none.
        matched: what other matchings of seeds would say (matchings.markdown); empty for none.
    """
    params, primary, every = told.params, told.primary, [*told.folders, *told.apart]
    below = "#each-model-alone-and-what-keeps-it-out-of-a-claim"
    brief = told.brief(below)
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
        "Each model alone, and what keeps it out of a claim": judged.models_alone(told.card, told.own, params),
        "Each published run, and each data set of one that has several, by itself": each_part.table(
            told.folders, told.apart, params
        ),
        "Other averages, and each setting": judged.averages(primary, told.averages, solved, params),
        in_place.TITLE: instead,
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
