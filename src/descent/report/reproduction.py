"""REPORT.md of a published run, in the form of the ML Reproducibility Challenge; every number comes from a table.

What does not depend on numbers stands in reproduction.md.j2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from descent.analysis.summary import left_out
from descent.analysis.verdicts import (
    CANNOT_TELL,
    NO_EFFECT,
    NOT_REPRODUCED,
    NOT_TESTED,
    REPRODUCED,
    REVERSED,
    VERDICTS,
)
from descent.config import Params
from descent.report import held, judged, sections
from descent.report.markdown import listed, pipe
from descent.report.paper_section import section

FAILED = (NO_EFFECT, REVERSED, NOT_REPRODUCED)
SHORT = {CANNOT_TELL: "undecided", NO_EFFECT: "without an effect of interest"}  # in a sentence


@dataclass(frozen=True)
class Run:
    """What the words are written from.

    Attributes:
        card: the scorecard.
        models: its claims on each model alone (scorecard.by_model).
        cells: summary.cells_table.
        controls, shifts, numbers: as report.published makes them; solver, longer, selection: as report.held does.
        averages: sensitivity.table.
        datasets: scorecard.by_dataset.
        trials: tuning.trials.
        metas: what preparation noted, by folder (evidence.metas).
        made: `made_by` of every cell (evidence.records).
        figures: what the published files say of themselves (evidence.pictures), by name.
    """

    params: Params
    card: pd.DataFrame
    models: pd.DataFrame
    cells: pd.DataFrame
    controls: pd.DataFrame
    shifts: pd.DataFrame
    numbers: pd.DataFrame
    solver: pd.DataFrame
    longer: pd.DataFrame
    averages: pd.DataFrame
    datasets: pd.DataFrame
    trials: pd.DataFrame
    selection: pd.DataFrame
    metas: Mapping[str, Mapping[str, Any]]
    made: Sequence[Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, Any]]


def report(run: Run) -> str:
    """The whole of REPORT.md."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    params, card = run.params, run.card
    untested = card[card["verdict"] == NOT_TESTED][["statement", "why"]].fillna("").to_numpy().tolist()
    scope = ["statement", "paper", "group", "verdict"]
    return environment.get_template("reproduction.md.j2").render(
        profile=params.profile,
        scope=pipe(scope, card[scope].to_numpy().tolist()),
        used=sections.used(params),
        data=sections.data(run.metas),
        drawn=sections.drawn(params),
        budgets=sections.budgets(params),
        numbers=sections.trained_numbers(run.numbers, params),
        trials=sections.plain(run.trials, params),
        unlisted=sections.unlisted(run.trials, params),
        cells=sections.cells(run.cells, run.made, params),
        solver=sections.plain(run.solver, params),
        longer=sections.plain(run.longer, params),
        averages=judged.averages(card, run.averages, run.solver, params),
        datasets=judged.by_dataset(run.datasets, params),
        selection=sections.plain(run.selection, params),
        reproduced=judged.claims(card, [REPRODUCED]),
        failed=judged.claims(card, FAILED),
        undecided=judged.claims(card, [CANNOT_TELL]),
        untested=pipe(["claim", "why"], untested) if untested else "",
        models=judged.models_alone(card, run.models, params),
        controls=sections.controls(run.controls, params),
        shifts=sections.shifts(run.shifts, params),
        figures=sections.figures(run.figures),
        departures=" ".join(sections.departures(params)),
        paper=section(params.video.evaluation.gammas, _sigmas(run)).strip(),
        limits=[f"Left out of this run: {'; '.join(left_out(params))}."] if left_out(params) else [],
    )


def first_screen(
    card: pd.DataFrame,
    models: pd.DataFrame,
    averages: pd.DataFrame,
    cells: pd.DataFrame,
    folders: Sequence[Path],
    params: Params,
) -> str:
    """What the README shows first: what was tested and how it ended, the forest plot, the primary verdicts, what
    they rest on and each model alone folded away, the scope in a line.

    Args:
        card, models: the scorecard, and its claims on each model alone.
        averages: sensitivity.table of what they were judged from.
        cells: summary.cells_table of all parts.
        folders: where the runs are published, relative to the README; beside them the protocol and the plot.
    """
    primary = card[card["group"] == "primary"]
    own = models[models["claim"].str.startswith(tuple(primary["claim"]))]
    seen = "primary claims: estimates with 95 % intervals, and the paper's values"
    said, root = _outcome(primary, own, params), folders[0].parent.as_posix()
    rests = judged.averages(primary, averages, held.solver(cells, params), params)
    primary, own = (table.assign(why=_first(table["why"])) for table in (primary, own))
    alone = judged.models_alone(card, own, params)
    reports = [f"[{folder.name}]({folder.as_posix()}/REPORT.md)" for folder in folders]
    parts = [
        f"{said} {sections.descending(cells, params)}",
        f"![{seen}]({root}/fig_forest.png)",
        judged.claims(primary, primary["verdict"].tolist()),
        _folded("What these rest on: other averages, and each setting", rests),
        _folded(
            "Each published part, and each data set of one that has several, by itself",
            judged.by_part(folders, params),
        ),
        _folded("Each model alone, and what keeps it out of a claim", alone),
        f"Scope: {sections.compared(cells, params)}; reports: {listed(reports)}; [protocol]({root}/PROTOCOL.md).",
    ]
    return "\n\n".join(parts)


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _outcome(primary: pd.DataFrame, own: pd.DataFrame, params: Params) -> str:
    """How many of the paper's primary claims are reproduced, what became of the others, and on what that rests."""
    tested = primary[primary["verdict"] != NOT_TESTED]
    if tested.empty:
        return (
            f"**None of the paper's {len(primary)} primary claims could be tested on real data yet.** Below is "
            "why, and what each model shows alone."
        )
    rest_on = own[own["claim"].isin(tested["claim"]) & (own["why"].fillna("") == "")]["model"].unique()
    names = list(dict.fromkeys(sections.label(params, "models", name) for name in rest_on))
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


def _sigmas(run: Run) -> dict[str, float]:
    labels = run.params.components["tasks.video.datasets"]
    return {labels[name]["LABEL"]: meta["sigma"] for name, meta in run.metas.items() if name in labels}


def _first(reasons: pd.Series) -> pd.Series:
    return reasons.fillna("").str.replace(r";.*", "; ...", regex=True)
