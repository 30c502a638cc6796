"""REPORT.md of a published run, in the form of the ML Reproducibility Challenge; every number comes from a table.

What does not depend on numbers stands in reproduction.md.j2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from descent.analysis.asked import left_out
from descent.analysis.verdicts import (
    CANNOT_TELL,
    NO_EFFECT,
    NOT_REPRODUCED,
    NOT_TESTED,
    REPRODUCED,
    REVERSED,
)
from descent.config import Params
from descent.published import gains, judged, sections
from descent.published.markdown import pipe
from descent.published.paper_section import section

FAILED = (NO_EFFECT, REVERSED, NOT_REPRODUCED)


@dataclass(frozen=True)
class Run:
    """What the words are written from.

    Attributes:
        tables: those that are published, and those of publishing.aside, by name.
        metas: what preparation noted, by folder (run_folder.metas).
        made: `made_by` of every cell (run_folder.records).
        figures: what the published files say of themselves (run_folder.pictures), by name.
        protocol: the commit of the protocol that judges it (run_folder.commit_of).
    """

    params: Params
    tables: Mapping[str, pd.DataFrame]
    metas: Mapping[str, Mapping[str, Any]]
    made: Sequence[Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, Any]]
    protocol: str


def report(run: Run) -> str:
    """The whole of REPORT.md."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    params, tables = run.params, run.tables
    card, averages, solver = tables["claims"], tables["sensitivity"], tables["solver"]
    scope = ["statement", "paper", "group", "verdict"]
    return environment.get_template("reproduction.md.j2").render(
        profile=params.profile,
        protocol=run.protocol,
        scope=pipe(scope, card[scope].to_numpy().tolist()),
        used=sections.used(params),
        data=sections.data(run.metas),
        drawn=sections.drawn(params),
        budgets=sections.budgets(params),
        numbers=sections.trained_numbers(tables["numbers"], params),
        trials=sections.whole(tables["trials"], params),
        rates=sections.rates(tables["cells"], params),
        pilots=sections.whole(tables["pilots"], params),
        cells=sections.cells(tables["cells"], run.made, params),
        solver=sections.whole(solver, params),
        longer=sections.whole(tables["longer"], params),
        epochs=gains.by_epochs(tables["epochs"], params),
        averages=judged.averages(card, averages, solver, params),
        datasets=judged.by_dataset(tables["datasets"], params),
        selection=sections.whole(tables["selection"], params),
        tested=bool((card["verdict"] != NOT_TESTED).any()),
        reproduced=judged.claims(card, [REPRODUCED]),
        failed=judged.claims(card, FAILED),
        undecided=judged.claims(card, [CANNOT_TELL]),
        untested=judged.untested(card, params),
        models=judged.models_alone(card, tables["models"], params),
        controls=gains.controls(tables["controls"], params),
        shifts=gains.shifts(tables["shifts"], params),
        kinds=gains.kinds(tables["kinds"], params),
        figures=sections.figures(run.figures),
        departures=" ".join(sections.departures(params)),
        paper=section(params.video.evaluation.gammas, _sigmas(run)).strip(),
        limits=[f"Left out of this run: {'; '.join(left_out(params))}."] if left_out(params) else [],
    )


def _sigmas(run: Run) -> dict[str, float]:
    labels = run.params.components["tasks.video.datasets"]
    return {labels[name]["LABEL"]: meta["sigma"] for name, meta in run.metas.items() if name in labels}
