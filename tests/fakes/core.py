"""A tiny parameter set, a tiny prepared data set and a project folder around them, for the tests of the core."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from descent import paths
from descent.analysis import results
from descent.cells import Cell
from descent.components import load as component
from descent.config import Params
from descent.io import core_yaml
from descent.primal_dual.problem import Problem
from descent.runner import integrity, items, scores
from descent.runner.checkpoints import FileCheckpoint
from descent.runner.executor import Job
from descent.runner.items import Item
from descent.schema import validated
from descent.tasks.common import scored
from descent.tasks.common.items import of_model, of_study, setting
from descent.tasks.video.batches import DenoisingTask
from descent.tasks.video.data import Prepared, load
from descent.tasks.video.feed import feed
from descent.training.loop import Run, Task, train

ROOT = Path(__file__).resolve().parents[2]
PARAMS = ROOT / "tests" / "params.yaml"  # frozen: the user's own file may hold anything
DATASET = "ucsd"
SIZE, PATCH, TOKENS = 8, 4, 3
CLIPS = {"train": [13, 17], "validation": [11], "test": [16, 7]}

PRIMAL_DUAL = {
    "alpha": 0.2,
    "R0": 0.5,
    "margin": 0.0,
    "margin_start": 0.0,
    "cap_layer": 0,
    "constraint": "difference",
    "nupi_gain": 1.0,
    "nupi_smoothing": 0.9,
    "dual_mean": 0.0,
    "through_previous": True,
    "resilience": "slacks",
    "rho": 20.0,
    "restart": True,
    "reset_moments": True,
    "slack_optimizer": "adam",
    "slack_lr": 0.01,
    "dual_optimizer": "adam",
    "dual_every": 1,
    "dual_forward": "same",
    "warmup_epochs": 1,
}
RATES = {"lr": 0.01, "arms": {"constrained": {"dual_lr": 0.05}}}
BUDGET = {
    "layers": [2, 3],
    "eps": [0.0, 0.5],
    "seeds": [0],
    "tokens": TOKENS,
    "batch": 7,
    "epochs": 4,
    "epoch_inputs": 21,
    "validation_inputs": 10,
    "test_inputs": None,
    "models": {"ut": RATES | {"atoms": 64}, "dust": RATES | {"atoms": 64}},
}
SMALL = {
    "profile": "demo",
    "eps": 0.13,
    "method": "constrained",
    "device": "cpu",
    "arms": ["constrained", "unconstrained"],
    "video.datasets": [DATASET],
    "video.models": ["ut", "dust"],
    "video.frame": {"size": SIZE, "patch": PATCH, "split": "official"},
    "video.noise_scale": "dataset",
    "video.patch_loss": "sum",
    "video.tolerance": 0.02,
    "video.selection": "feasible",
    "video.evaluation": {
        "gammas": [0.0, 0.25, 0.5, 1.0],
        "shifts": ["gaussian"],
        "noise_draws": 2,
        "seed": 5,
        "batch": 5,
        "bootstrap": 7,
        "classical_frames": 4,
        "transfer": [],
    },
    "models.ut": {
        "reading": "pixels",
        "step_scale": 1.5,
        "feedforward_gain": 0.1,
        "residual": True,
        "exact_beta": False,
        "decouple": False,
    },
    "models.dust": {
        "dictionaries": "shared",
        "arms": {"constrained": {"dictionaries": "per_layer"}, "deep_supervision": {"dictionaries": "per_layer"}},
        "attention": "dictionary",
        "step_scale": 1.5,
        "threshold": 0.01,
        "kappa": 1.0,
    },
    "objectives.constrained": PRIMAL_DUAL | {"models": {"ut": {"cap_layer": 1}}, "datasets": {}},
    "training": {
        "schedule": "cosine",
        "betas": [0.9, 0.999],
        "clip_norm": 1.0,
        "diverged_above": 10000.0,
        "checkpoint_seconds": 1000.0,
        "precision": "float32",
        "compile": False,
        "stack_elements": {"cpu": 100000, "cuda": 100000},
    },
    "study.infeasible": {
        "task": "video",
        "dataset": DATASET,
        "model": "dust",
        "layers": 3,
        "eps": 0.3,
        "arm": "constrained",
        "beside": ["unconstrained"],
        "vary": None,
        "overrides": {"alpha": 0.9, "R0": 0.01, "resilience": "none"},
    },
    "profiles.demo.video": BUDGET,
}

DIAGNOSED = [  # tests/runner/test_diagnostics.py, test_acting.py
    *("active_epochs", "active_reported"),
    *("clipped", "seconds", "parameters", "oscillation", "loss_epoch", "multiplier", "weight"),
    *("multiplier_oscillation", "feasible_epochs", "violation_epoch", "multiplier_epoch", "weight_epoch"),
    *("slackness", "active", "descent_active"),
]


def values(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The frozen parameters as plain values, those that matter to the core replaced by small ones, then `changes`.

    Keys of changes are dotted paths; a mapping replaces the values that it names and no others.
    """
    found = json.loads(_frozen())
    for path, value in [*SMALL.items(), *(changes or {}).items()]:
        *parents, last = path.split(".")
        node = found
        for parent in parents:
            node = node[parent]
        fits = isinstance(value, dict) and isinstance(node.get(last), dict)
        # A copy of its own, in which no two sections are the same object.
        node[last] = json.loads(json.dumps(node[last] | value if fits else value))
    return found


@cache
def _frozen() -> str:
    return json.dumps(core_yaml.read(PARAMS))


def small_params(changes: dict[str, Any] | None = None) -> Params:
    """The parameters of these values."""
    return validated(Params, values(changes), "params.yaml")


def small_problem(**changes: Any) -> Problem:
    """A constrained problem, slacks and Adam duals unless told."""
    return small_params().problem(DATASET, "dust", changes)


def write_prepared(folder: Path, seed: int = 0) -> Prepared:
    """Smooth moving patterns in the files that preprocess_video writes."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, digest, index, frames = np.random.default_rng(seed), hashlib.sha256(), {}, {}
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    for split, lengths in CLIPS.items():
        waves = []
        for length in lengths:
            time, phase = np.arange(length)[:, None, None], 6 * rng.random(2)
            waves.append(0.5 + 0.25 * np.sin(3 * x + 0.2 * time + phase[0]) + 0.2 * np.cos(4 * y + phase[1]))
        frames[split] = np.round(255 * np.concatenate(waves)).astype(np.uint8)
        firsts = np.cumsum([0, *lengths[:-1]])
        index[split] = [[f"{split}{n}", int(a), c] for n, (a, c) in enumerate(zip(firsts, lengths, strict=True))]
        digest.update(frames[split].tobytes())
    index["validation"] = [[name, len(frames["train"]) + a, c] for name, a, c in index["validation"]]
    np.save(folder / "training.npy", np.concatenate([frames["train"], frames["validation"]]))
    np.save(folder / "test.npy", frames["test"])
    unit = frames["train"] / 255
    meta = {
        "dataset": folder.name,
        "clips": index,
        "frames": {split: len(array) for split, array in frames.items()},
        "sigma": float(unit.std()),
        "size": SIZE,
        "patch": PATCH,
        "digest": digest.hexdigest(),
        "synthetic": True,
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    return load(folder)


def make_project(folder: Path) -> Path:
    """A project's root: a copy of the source and the stages, and one prepared data set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("src", "stages"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    write_prepared(folder / "data" / "prepared" / DATASET)
    return folder


def enter_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """Make a project and work in it, as a stage does; its store of cells is its own."""
    monkeypatch.chdir(make_project(folder))
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return load(Path("data/prepared") / DATASET)


def seal(folder: Path, **record: Any) -> None:
    """Have a cell's record vouch for its files as a test has changed them, and change the record."""
    known = json.loads((folder / integrity.RECORD).read_text())
    (folder / integrity.RECORD).write_text(integrity.sealed(folder, known | record))


def item_of(params: Params, *words: str) -> Item:
    """What the training stages make of these words: task, data set and model, or the name of a study."""
    if len(words) == 1:
        [item] = of_study(params, *words)
        return item
    return of_model(params, *words)


def train_cells(params: Params, *words: str) -> Item:
    """stages.train or stages.train_studies with these parameters."""
    item = item_of(params, *words)
    items.train(item.name, [item])
    return item


def evaluate_cells(params: Params, *words: str) -> pd.DataFrame:
    """stages.evaluate (task, data set) or stages.evaluate_studies (a name) with these parameters; their rows."""
    study = len(words) == 1
    file = paths.study_scores_file(*words) if study else paths.scores_file(*words)
    results.write(scored.of_studies(params, words)[words[0]] if study else scored.of_dataset(params, *words), file)
    return pd.read_parquet(file)


def serially(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Let the stages do their stacks here, one by one; returns the names of those trained as they begin."""
    told: list[list[str]] = []

    def run_all(jobs: list[Job], device: torch.device, tell: Callable) -> list:
        return [job.work(job.stack, tell) for job in jobs]

    def train_all(jobs: list[Job], *others: Any) -> None:
        for job in jobs:
            told.append([cell.name for cell in job.stack])
            run_all([job], *others)

    monkeypatch.setattr(items, "run_all", train_all)
    monkeypatch.setattr(scores, "run_all", run_all)
    return told


def write_params(folder: Path, changes: dict[str, Any] | None = None) -> None:
    """params.yaml of a project; JSON is YAML but for the names of what is not finite."""
    text = json.dumps(values(changes)).replace("NaN", ".nan").replace("Infinity", ".inf")
    (folder / "params.yaml").write_text(text)


def environment() -> dict[str, str]:
    """For stages run as their own process: one thread, our source, no store but the project's."""
    mine = {key: value for key, value in os.environ.items() if key != "DVC_ROOT"}
    return mine | {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def fit(
    params: Params,
    prepared: Prepared,
    cells: Sequence[Cell],
    checkpoint: Path,
    tell: Callable[[int, Tensor], None] = lambda epoch, f: None,
    wrap: Callable[[DenoisingTask], Task] = lambda task: task,
) -> tuple[nn.Module, Run]:
    """Train a stack through the loop itself; returns the model as the last step left it, and the run."""
    first, device = cells[0], torch.device("cpu")
    made, settings = feed(params, prepared, first.model, device), [setting(params, cell) for cell in cells]
    model = made.build(cells)
    run = train(
        model,
        wrap(made.task(cells)),
        component("arms", first.arm).Arm([own.values for own in settings], first.layers, device),
        made,
        lr=settings[0].lr,
        checkpoint=FileCheckpoint(checkpoint),
        progress=tell,
    )
    return model, run


def same(one: Run, other: Run, cells: Sequence[int] | None = None) -> bool:
    """Whether two runs are equal bit for bit, but for the time they took; NaN equals NaN."""
    chosen = slice(None) if cells is None else list(cells)

    def equal(a: Tensor, b: Tensor) -> bool:
        return torch.equal(a[chosen].nan_to_num(7.7), b[chosen].nan_to_num(7.7))

    parts = [(one.alive, other.alive), (one.score, other.score), (one.epoch, other.epoch)]
    parts += [(one.weights[name], other.weights[name]) for name in one.weights | other.weights]
    for mine, theirs in zip(one.history, other.history, strict=True):
        parts += [(mine[name], theirs[name]) for name in mine | theirs if name != "seconds"]
    return all(equal(a, b) for a, b in parts)


def unfuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have optimizers take many kernels for a step: those of one alone do not exist for the device `meta`."""

    def unfused(kind: type, params: object, fused: bool = False, **options: object) -> torch.optim.Optimizer:
        return kind(params, **options)

    for name in ("Adam", "SGD"):
        monkeypatch.setattr(torch.optim, name, partial(unfused, getattr(torch.optim, name)))
