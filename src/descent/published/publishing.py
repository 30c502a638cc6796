"""A finished run to its folder of evidence, to the README's first screen and to the pages beside it."""

import re
from pathlib import Path

import pandas as pd

from descent.analysis import (
    cell_scores,
    epochs,
    grounds,
    kinds,
    levels,
    scorecard,
    sensitivity,
    stopped,
    transfer,
    tuning,
)
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.io.folders import write_text
from descent.published import of_results, programme, reproduction, run_folder, solver

README = Path("README.md")
BLOCK = re.compile(r"(<!-- evidence -->\n).*?(<!-- /evidence -->)", re.DOTALL)


def publish(params: Params) -> Path:
    """Publish the run that params.yaml asks for, and let the README begin with it; returns the folder.

    Raises:
        UserError: synthetic data, an unfinished run, no protocol, or one that is newer than the runs it judges.
    """
    results = run_folder.finished(params)
    made = run_folder.records(params)
    run_folder.check_older(run_folder.PROTOCOL, made)
    metas = run_folder.metas(params)
    pictures = run_folder.pictures(params)
    pairs, facts = grounds.of_results(results, params)
    tables = _tables(results, pairs, facts, params)
    run = reproduction.Run(
        params=params,
        tables=tables | aside(results, tables["cells"], params),
        metas=metas,
        made=list(made.values()),
        figures={file.name: told for file, told in pictures.items()},
        protocol=run_folder.commit_of(run_folder.PROTOCOL),
    )
    texts = {
        "REPORT.md": reproduction.report(run),
        "params.yaml": run_folder.parameters(params),
        "environment.txt": run_folder.environment(made),
        "data.sha256": run_folder.digest_lines(metas),
    }
    folder = run_folder.ROOT / run_folder.folder_name(params, metas, made)
    run_folder.write(folder, texts, tables, (pairs, facts), pictures)
    begin_readme(run_folder.ROOT, params)
    return folder


def _tables(
    results: pd.DataFrame, pairs: pd.DataFrame, facts: pd.DataFrame, params: Params
) -> dict[str, pd.DataFrame]:
    """The tables that are published, by the names of their files."""
    cells = cells_table(results, params)
    return {
        "claims": scorecard.judged(pairs, facts),
        "models": scorecard.by_model(pairs, facts),
        "cells": cells,
        "controls": of_results.controls(results, params),
        "epochs": epochs.table(results, params),
        "levels": levels.table(results, params),
        "scores": cell_scores.table(results),
        "shift_scores": cell_scores.shifted(results),
        "shifts": of_results.shifts(results, params),
        "transfer": transfer.matrix(results, params),
        "kinds": kinds.table(results, params),
        "stopped": stopped.table(results, params),
        "sensitivity": sensitivity.table(pairs, facts),
        "datasets": scorecard.by_dataset(results, params),
        "trials": tuning.trials(cells, params),
    }


def aside(results: pd.DataFrame, cells: pd.DataFrame, params: Params) -> dict[str, pd.DataFrame]:
    """The tables that REPORT.md holds and that no file of their own does: how large the models are, and how the
    solver held."""
    return {
        "numbers": of_results.trained_numbers(results),
        "solver": solver.by_setting(cells, params),
        "pilots": solver.pilots(cells, params),
        "longer": solver.longer(cells),
        "selection": solver.selection(results, params),
    }


def begin_readme(root: Path, params: Params) -> None:
    """Have the README say what all published parts say, between its markers, where it has them, and write the
    pages beside these parts.

    Its verdicts are those of programme.leading; where all parts are judged alone it keeps the words it has.

    Raises:
        UserError: as of programme.write.
    """
    words = programme.write(root, programme.leading(root, params) or params)
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    changed = BLOCK.sub(lambda found: f"{found[1]}{words}\n{found[2]}", text) if words else text
    if changed != text:
        write_text(README, changed)
