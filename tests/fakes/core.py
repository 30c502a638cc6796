"""A tiny parameter set, a tiny prepared data set and a project folder around them, for the tests of the core."""

import copy
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ruamel.yaml import YAML
from torch import Tensor, nn

from descent.arms.constrained import ERM, Constrained
from descent.cells import Cell, scores_file
from descent.config import Params
from descent.runner import items, scores
from descent.runner.items import Item
from descent.schema import PrimalDual
from descent.tasks.video import items as video
from descent.tasks.video.data import Prepared, load
from descent.tasks.video.evaluate import scoring
from descent.tasks.video.sequences import Denoising
from descent.training.devices import choose
from descent.training.loop import Run, Task, train

ROOT = Path(__file__).resolve().parents[1]
DATASET = "ucsd"
SIZE, PATCH, TOKENS = 8, 4, 3
CLIPS = {"train": [13, 17], "validation": [11], "test": [16, 7]}

PRIMAL_DUAL = {
    "alpha": 0.2,
    "R0": 0.5,
    "cap_layer": 0,
    "constraint": "difference",
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
BUDGET = {
    "layers": [2, 3],
    "eps": [0.0, 0.5],
    "seeds": [0],
    "tokens": TOKENS,
    "batch": 7,
    "epochs": 4,
    "epoch_sequences": 21,
    "validation_sequences": 10,
    "test_sequences": None,
    "atoms": 64,
    "ut": {"lr": 0.01, "dual_lr": 0.05},
    "dust": {"lr": 0.01, "dual_lr": 0.05},
}
SMALL = {
    "profile": "demo",
    "eps": 0.13,
    "method": "constrained",
    "device": "cpu",
    "video.datasets": [DATASET],
    "video.models": ["ut", "dust"],
    "video.methods": ["constrained", "unconstrained"],
    "video.frame": {"size": SIZE, "patch": PATCH, "split": "official"},
    "video.noise_scale": "dataset",
    "video.patch_loss": "sum",
    "video.tolerance": 0.02,
    "video.report": "feasible",
    "models.ut": {
        "reading": "pixels",
        "step_scale": 1.5,
        "feedforward_gain": 0.1,
        "residual": True,
        "exact_beta": False,
        "decouple": False,
    },
    "models.dust": {
        "dictionaries": {"constrained": "per_layer", "unconstrained": "shared"},
        "attention": "dictionary",
        "step_scale": 1.5,
        "threshold": 0.01,
        "kappa": 1.0,
    },
    "primal_dual.ut": PRIMAL_DUAL | {"cap_layer": 1},
    "primal_dual.dust": PRIMAL_DUAL,
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
    "evaluation": {"gammas": [0.0, 0.25, 0.5, 1.0], "noise_draws": 2, "seed": 5, "batch": 5, "bootstrap": 7},
    "infeasible": {
        "dataset": DATASET,
        "model": "dust",
        "layers": 3,
        "eps": 0.3,
        "seed": 0,
        "primal_dual": {"alpha": 0.9, "R0": 0.01, "resilience": "none"},
    },
    "profiles.demo.video": BUDGET,
}


def values(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """params.yaml as plain values, every one that matters to the core replaced by a small one, then `changes`.

    Keys of changes are dotted paths; a mapping replaces the values that it names and no others.
    """
    found = json.loads(json.dumps(YAML(typ="safe").load(ROOT / "params.yaml")))
    for path, value in [*SMALL.items(), *(changes or {}).items()]:
        *parents, last = path.split(".")
        node = found
        for parent in parents:
            node = node[parent]
        fits = isinstance(value, dict) and isinstance(node.get(last), dict)
        node[last] = copy.deepcopy(node[last] | value if fits else value)
    return found


def small_params(changes: dict[str, Any] | None = None) -> Params:
    """The parameters of these values."""
    return Params.model_validate_json(json.dumps(values(changes)))


def small_problem(**changes: Any) -> PrimalDual:
    """A constrained problem, slacks and Adam duals unless told."""
    return small_params({"primal_dual.dust": changes}).primal_dual.dust


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
        np.save(folder / f"{split}.npy", frames[split])
    unit = frames["train"] / 255
    meta = {
        "dataset": folder.name,
        "clips": index,
        "frames": {split: len(array) for split, array in frames.items()},
        "sigma": float(unit.std()),
        "mean": float(unit.mean()),
        "rms": float(np.sqrt(np.square(unit).mean())),
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


def video_item(params: Params, *words: str) -> Item:
    """The matrix item of these words, as the stages of video make it."""
    video.check_names(params, *words)
    return video.item(params, load(video.prepared_folder(words[1])), choose(params.device), *words)


def train_cells(params: Params, *words: str) -> None:
    """stages.train_video with these parameters."""
    items.train(video_item(params, *words))


def evaluate_cells(params: Params, *words: str) -> None:
    """stages.evaluate_video with these parameters."""
    item, prepared = video_item(params, *words), load(video.prepared_folder(words[1]))
    scores.evaluate(item, scoring(params, prepared, item, words[0]), scores_file(*words))


def serially(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Let the stages do their stacks here, one by one; returns the names of those trained as they begin."""
    told: list[list[str]] = []

    def run_all(stacks: list, work: Callable, device: torch.device, planned: int, tell: Callable) -> None:
        for stack in stacks:
            work(stack, tell)

    def train_all(stacks: list, *others: Any) -> None:
        for stack in stacks:
            told.append([cell.name for cell in stack])
            run_all([stack], *others)

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
    wrap: Callable[[Denoising], Task] = lambda task: task,
) -> tuple[nn.Module, Run]:
    """Train a stack through the loop itself; returns the model as the last step left it, and the run."""
    first, budget, device = cells[0], params.budget.video, torch.device("cpu")
    rates = getattr(budget, first.model)
    constrained = Constrained(
        (len(cells), first.layers + 1), rates.dual_lr, params.constraints(first.model), device
    )
    model = import_module(f"descent.models.{first.model}").build(params, cells)
    run = train(
        model,
        wrap(Denoising(params, prepared, cells=cells, device=device)),
        constrained if first.method == "constrained" else ERM(),
        params.training,
        epochs=budget.epochs,
        lr=rates.lr,
        report=params.video.report,
        tolerance=params.video.tolerance,
        checkpoint=checkpoint,
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
