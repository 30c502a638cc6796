"""Made-up arrays and texts of single inputs, as evaluation keeps them for pictures."""

import json
from pathlib import Path

import numpy as np

from descent.cells import REFERENCES, headline
from descent.components import TASKS
from descent.config import Params
from descent.paths import LOOKS, looks_folder

SIZE, PATCH, TOKENS, ATOMS = 16, 4, 3, 5


def write_looks(params: Params) -> None:
    """data/looks in the working folder, of all data sets, models and arms in use."""
    numbers = np.random.default_rng(0)
    for task, write in (("video", _arrays), ("text", _answers), ("lm", _lens)):
        section = params.section(task)
        for dataset in section.datasets:
            for model in section.models:
                folder = LOOKS / dataset / model
                folder.mkdir(parents=True)
                depth = max(params.model_budget(model)["layers"]) + 1
                for arm in params.arms:
                    write(params, folder / arm, depth, numbers, dataset, model)
                for name in REFERENCES if task == "video" else ():
                    write(params, folder / name, 1, numbers, dataset, model)


def keep_nothing(params: Params) -> None:
    """The folders of evaluation, without a single input."""
    for task in TASKS:
        for dataset in params.section(task).datasets:
            looks_folder(task, dataset).mkdir(parents=True)


def _arrays(
    params: Params, path: Path, depth: int, numbers: np.random.Generator, dataset: str, model: str
) -> None:
    levels = [headline(params, "video"), float(max(params.video.evaluation.gammas))]
    arrays = {
        "gammas": np.array(levels),
        "clean": numbers.integers(0, 256, (SIZE, SIZE), dtype=np.uint8),
        "pictures": numbers.integers(0, 256, (2, depth, SIZE, SIZE), dtype=np.uint8),
        "psnr": numbers.uniform(10, 40, (2, depth)),
    }
    if depth > 1 and params.components["models"][model]["INPUTS"] == "patches":
        weights = numbers.uniform(size=(depth - 1, TOKENS, TOKENS))
        arrays["attention"] = weights / weights.sum(-1, keepdims=True)
        arrays["sequence"] = numbers.integers(0, 256, (TOKENS, PATCH, PATCH), dtype=np.uint8)
        copies = 2 if path.name == params.comparison.ours else 1
        arrays["atoms"] = numbers.normal(size=(copies, 2, ATOMS, PATCH, PATCH))
        arrays["moved"] = np.full(copies, 0.0123)
    np.savez(path.with_suffix(".npz"), **arrays)


def _answers(
    params: Params, path: Path, depth: int, numbers: np.random.Generator, dataset: str, model: str
) -> None:
    classes = len(params.components["tasks.text.datasets"][dataset]["CLASSES"])
    rows = [
        {
            "words": f"text {place} costs $5, {'and so on ' * 60}",
            "label": place % classes,
            "probabilities": numbers.dirichlet(np.ones(classes), depth).tolist(),
        }
        for place in range(4)
    ]
    path.with_suffix(".json").write_text(json.dumps(rows))


def _lens(params: Params, path: Path, depth: int, numbers: np.random.Generator, dataset: str, model: str) -> None:
    told = {
        "prompt": "Say $5.\nResponse:",
        "targets": ["It", " costs", " ", "a very long word"],
        "tokens": [["It", "\u0001", "\n", "価格"]] * depth,
        "probabilities": numbers.uniform(size=(depth, 4)).tolist(),
    }
    path.with_suffix(".json").write_text(json.dumps(told))
