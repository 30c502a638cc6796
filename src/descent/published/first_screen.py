"""What the README begins with: the verdicts on the primary claims, in Markdown."""

import pandas as pd

from descent.analysis.keys import PLACE
from descent.analysis.verdicts import NOT_TESTED, REPRODUCED, VERDICTS
from descent.analysis.wording import number_of
from descent.components import TASKS
from descent.published import files, judged, matchings, sections
from descent.published.markdown import listed
from descent.published.told import PAGE, Verdicts

SEEN = (
    "the primary claims: effects with 95 % intervals in multiples of what matters, and those of the paper's tables"
)
CAPTION = (
    "*Each line: an effect and its 95 % interval in multiples of what matters; right is better, so a price is "
    "drawn to the left; diamond: the paper's UT in its tables, over all test noise.* In the table a gain is "
    "positive where constrained training is better, a price where it is worse; in brackets the 95 % interval; "
    "*matters*: the smallest gain of interest, or the largest price that counts as small, fixed before the runs. "
    "Two models are of *equal capacity* if they have equally many weights."
)
BRIEF = """The verdict is the first that fits:

| verdict | of a gain | of a price | and p < .05, corrected for six claims |
| --- | --- | --- | --- |
| reproduced | interval above zero, estimate what matters or more | 90 % interval below what matters | yes |
| no effect of interest | 90 % interval between minus and plus what matters | | |
| reversed | interval below zero | | yes |
| not reproduced | | interval above what matters | yes |
| cannot tell | all else | all else | |

For errors, gain and price are 100 ln(ratio of the errors), in %; points are of accuracy. Intervals are over
seeds and test items (of video blocks of frames of a few clips, so that nothing follows for other scenes). A mean
over more than three settings is trimmed: without the largest and smallest quarter. *In its tables*: the same mean
of the paper's UT."""
FOLDED = "<details><summary>How to read it</summary>\n\n{}\n\n</details>"
UNTESTED = "*Not tested*: a precondition that was fixed before the runs does not hold."


def text(told: Verdicts, matched: pd.DataFrame) -> str:
    """How many primary claims are reproduced; a picture of them, the verdicts, how to read them, and the scope.

    Args:
        matched: what other matchings of seeds say (matchings.table); empty for none.
    """
    primary, place = told.primary, told.folders[0].parent.as_posix()
    paragraphs = [
        _outcome(primary, matchings.least(matched)),
        f"![{SEEN}]({place}/fig_verdicts.png)",
        CAPTION,
        judged.brief(told.brief(f"{place}/{PAGE}")),
        matchings.sentence(matched, f"{place}/{PAGE}"),
        FOLDED.format(BRIEF + (f" {UNTESTED}" if (primary["verdict"] == NOT_TESTED).any() else "")),
        f"{_scope(told)} [What the verdicts rest on]({place}/{PAGE}): every model, data set, "
        "setting and published run by itself, what the means hide, and what was left out; [how claims are "
        f"judged]({place}/PROTOCOL.md).",
    ]
    return "\n\n".join(filter(None, paragraphs))


def _outcome(primary: pd.DataFrame, least: float = 1.0) -> str:
    """How many of the paper's primary claims are reproduced, what became of the others, and from how much.

    Args:
        least: the smallest share of matchings of seeds in which a reproduced claim is that (matchings.least).
    """
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
    firm = "but" if reproduced == 1 else "one of them"
    hangs = f", {firm} in only {100 * least:.0f} % of the ways to set the seeds of its models side by side"
    hangs = hangs if least < matchings.MOST else ""
    others = [f"{counts[verdict]} *{verdict}*" for verdict in VERDICTS[1:] if verdict in counts]
    others += [f"{left} *{NOT_TESTED}*"] if (left := len(primary) - len(tested)) else []
    rest = f" The others: {listed(others)}." if others else ""
    return (
        f"**{len(primary)} of the paper's claims were chosen before the runs; {reproduced or 'none'} {be} "
        f"reproduced on real data{hangs}.**{rest} Behind a claim stand {seeds} seeds and up to "
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
