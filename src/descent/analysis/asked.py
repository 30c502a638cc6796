"""What params.yaml asks for: which score files, the cells in each, and what it leaves out."""

from dataclasses import astuple
from pathlib import Path

import pandas as pd

from descent.analysis.keys import IDENTITY, tuples
from descent.cells import grid, reference_cells, study_cells
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.paths import TRANSFER_SCORES, scores_file, study_scores_file


def asked(params: Params) -> dict[Path, list[tuple]]:
    """The score files that params.yaml asks for and the identities (IDENTITY) each must hold.

    One file for every data set in use whose task has a model in use, those of video with the maps that learn
    nothing; one for their cells on other data sets and kinds of text; one for every study in use, without rows
    where its data set or model is not.
    """
    files = {}
    for task in params.tasks:
        part = params.section(task)
        for dataset in part.datasets:
            cells = [cell for model in part.models for cell in grid(params, task, dataset, model)]
            if task == "video":
                cells += [cell for model in part.models for cell in reference_cells(params, dataset, model)]
            files[scores_file(task, dataset)] = cells
    known = params.components["tasks.text.datasets"]
    away = {
        "video": params.video.datasets if len(params.video.datasets) > 1 else [],
        "text": [name for name in params.text.datasets if known[name].get("GROUP")],
    }
    files[TRANSFER_SCORES] = [
        cell
        for task, datasets in away.items()
        for dataset in datasets
        for model in params.section(task).models
        for cell in grid(params, task, dataset, model)
    ]
    files |= {study_scores_file(name): study_cells(params, name) for name in params.studies}
    return {path: [astuple(cell) for cell in cells] for path, cells in files.items()}


def left_out(params: Params) -> list[str]:
    """What the profile in use could do and params.yaml leaves out, a few words each; empty where nothing is."""
    words = []
    for task in TASKS:
        part = params.section(task)
        known = params.components[f"tasks.{task}.datasets"]
        lists = {
            "datasets": ([name for name in known if name in params.budget.data], part.datasets),
            "models": (params.budget.grids(task).models, part.models),
        }
        gone = {kind: [name for name in known if name not in used] for kind, (known, used) in lists.items()}
        empty = [f"{task}.{kind} is empty" for kind, (_, used) in lists.items() if not used]
        words += [f"{task} ({', '.join(empty)})"] if empty else []
        words += [f"{task} of {', '.join(names)}" for names in gone.values() if names and not empty]
    for name, study in params.in_use.items():
        if not params.runs(study):
            words.append(f"the study {name} ({study.dataset} or {study.model} is not in use)")
    unused = [name for name in params.study if name not in params.studies]
    return words + ([f"of the studies {', '.join(unused)} (not in studies)"] if unused else [])


def check_asked(results: pd.DataFrame, params: Params) -> None:
    """Raises UserError where the table holds cells that were not asked for, or lacks some that were."""
    wanted = {identity for identities in asked(params).values() for identity in identities}
    found = set(tuples(results.drop_duplicates(IDENTITY), IDENTITY))
    for cells, fault in ((found - wanted, "not asked for by params.yaml"), (wanted - found, "missing")):
        if cells:
            first = " ".join(str(word) for word in min(cells))
            raise UserError(f"the scores of {len(cells)} cells are {fault}, e.g. {first}: run `dvc repro`")
