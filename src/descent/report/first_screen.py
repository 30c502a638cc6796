"""What the README begins with, and the page beside the published parts on what it rests on, in Markdown."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from descent.analysis import parts
from descent.analysis.verdicts import CANNOT_TELL, NO_EFFECT, NOT_TESTED, REPRODUCED, VERDICTS
from descent.components import in_words
from descent.config import Params
from descent.report import held, judged, sections
from descent.report.markdown import listed

SHORT = {CANNOT_TELL: "undecided", NO_EFFECT: "without an effect of interest"}  # in a sentence
LEGEND = (
    "*ERM*: plain training, the last layer's loss alone. A gain is positive where constrained training is better "
    "than ERM, a price where it is worse. *Out of distribution*: test noise above that of training. *Its number*: "
    "worked out from the paper's tables, over all test noise. *Effect, margin or bound*: what would matter, fixed "
    "before the runs (a mean where models differ in it). *p*: corrected for six claims (Holm). *Setting*: a data "
    "set, model and depth. *Not tested*: no model meets the protocol's preconditions."
)
SEEN = "primary claims and each of their models: estimates with 95 % intervals, and the paper's values"
PARTS = "README.md"  # beside the published parts
REASONS = """What the verdicts on the first screen of the [README](../../README.md) rest on, of all parts of
profile `{profile}`; written by `make evidence` from the tables in the folders beside this file. How claims are
judged: [PROTOCOL.md](PROTOCOL.md); the numbers: `claims.csv` and `sensitivity.csv`."""


def first_screen(
    card: pd.DataFrame, models: pd.DataFrame, cells: pd.DataFrame, folders: Sequence[Path], params: Params
) -> str:
    """What was tested and how it ended, the forest plot, the primary verdicts with a legend, how many verdicts
    parts of the data give by themselves, those of parts that others replace, gains at one learning rate, and the
    scope in a line.

    Args:
        card, models: the scorecard, and its claims on each model alone.
        cells: summary.cells_table of all parts.
        folders: where the runs are published, relative to the README; beside them the protocol and the plot.
    """
    primary, own = _primary(card, models)
    place = folders[0].parent.as_posix()
    paragraphs = [
        _outcome(primary, own, params),
        f"![{SEEN}]({place}/fig_forest.png)",
        judged.claims(
            primary.assign(why=_short(primary, own, f"{place}/{PARTS}", params)), primary["verdict"].tolist()
        ),
        LEGEND,
        judged.counted(folders, params, f"{place}/{PARTS}"),
        judged.not_counted(folders, params),
        judged.by_rate(folders, params),
        f"Scope: {sections.compared(cells, params)}. [What the verdicts rest on]({place}/{PARTS}): every setting, "
        f"each model and each published part by itself; [protocol]({place}/PROTOCOL.md).",
    ]
    return "\n\n".join(filter(None, paragraphs))


def behind(
    card: pd.DataFrame,
    models: pd.DataFrame,
    averages: pd.DataFrame,
    cells: pd.DataFrame,
    folders: Sequence[Path],
    params: Params,
) -> str:
    """The page beside the published parts: each model alone, each part, other averages and each setting.

    Args:
        card, models, cells, folders: as of first_screen.
        averages: sensitivity.table of what they were judged from.
    """
    primary, own = _primary(card, models)
    chapters = {
        "The published parts": _published(folders, params),
        "Descent": sections.descending(cells, params),
        "Constraints": sections.constraints(held.by_tolerance(cells, params), params),
        "Each model alone, and what keeps it out of a claim": judged.models_alone(card, own, params),
        "Each published part, and each data set of one that has several, by itself": judged.by_part(
            folders, params
        ),
        "Other averages, and each setting": judged.averages(primary, averages, held.solver(cells, params), params),
    }
    texts = [f"## {title}\n\n{text}" for title, text in chapters.items() if text]
    return "\n\n".join(["# What the verdicts rest on", REASONS.format(profile=params.profile), *texts]) + "\n"


def _published(folders: Sequence[Path], params: Params) -> str:
    """Links to the parts, and what of them no longer counts where another part holds it too."""
    linked = listed([f"[{folder.name}]({folder.name}/REPORT.md)" for folder in folders])
    gone = sorted(parts.replaced(folders)) if len(folders) > 1 else []
    told = listed(
        [in_words(params.components, f"{model} on {data} in {folders[n].name}") for data, model, n in gone]
    )
    return f"{linked}." + (
        f" Not counted in what a longer or better tuned part holds too: {told}." if gone else ""
    )


def _primary(card: pd.DataFrame, models: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    primary = card[card["group"] == "primary"]
    return primary, models[models["claim"].str.startswith(tuple(primary["claim"]))]


def _outcome(primary: pd.DataFrame, own: pd.DataFrame, params: Params) -> str:
    """How many of the paper's primary claims are reproduced, what became of the others, and on what that rests."""
    tested = primary[primary["verdict"] != NOT_TESTED]
    if tested.empty:
        return (
            f"**None of the paper's {len(primary)} primary claims could be tested on real data yet.** Below is "
            "why, and what each model shows alone."
        )
    rest_on = own[own["claim"].isin(tested["claim"]) & (own["why"].fillna("") == "")]["model"].unique()
    names = list(dict.fromkeys(sections.weighted(params, name) for name in rest_on))
    on = f"judged on {listed(names)}, with " if names else ""
    size = f"{on}up to {int(tested['settings'].max())} settings and {int(tested['seeds'].max())} seeds a claim"
    counts = tested["verdict"].value_counts()
    others = [f"{counts[verdict]} {SHORT.get(verdict, verdict)}" for verdict in VERDICTS[1:] if verdict in counts]
    others += [f"{rest} {NOT_TESTED}"] if (rest := len(primary) - len(tested)) else []
    reproduced = counts.get(REPRODUCED, 0)
    be = "is" if reproduced == 1 else "are"
    return (
        f"**{reproduced} of the paper's {len(primary)} primary claims {be} reproduced on real data**"
        f"{'; ' + listed(others) if others else ''} ({size})."
    )


def _short(primary: pd.DataFrame, own: pd.DataFrame, page: str, params: Params) -> list[str]:
    """Why each claim was not tested: where several models were left out, how many, and where their reasons are."""
    left = own[own["why"].fillna("") != ""].groupby("claim").size()
    told = zip(primary["claim"], primary["why"].fillna(""), primary["verdict"], strict=True)
    return [
        f"none of its {left[claim]} models meets the preconditions, [since]({page})"
        if verdict == NOT_TESTED and left.get(claim, 0) > 1
        else in_words(params.components, why)
        for claim, why, verdict in told
    ]
