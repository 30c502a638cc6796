"""Made-up rows about training, as evaluation writes them, and the parameters of controls and of solvers."""

from typing import Any

import numpy as np
import pandas as pd

from descent.analysis.keys import CELL
from descent.analysis.results import ABSENT
from descent.analysis.select import select
from descent.config import Params
from tests.fakes.results import fake_params

EPOCHS, WARMUP = 24, 1
MODELS = ["ut", "dust_per_layer", "dust_shared"]
BESIDE = ["unconstrained", "deep_supervision", "replay", "replay_positive", "penalty", "erm_range"]
SETTING = {"task": "video", "dataset": "ucsd", "layers": 5, "eps": 0.13, "vary": None, "overrides": {}}
CONTROLS = SETTING | {"model": "dust_per_layer", "arm": "constrained", "beside": BESIDE, "seeds": list(range(6))}
SOLVER = CONTROLS | {"beside": ["unconstrained", "penalty"], "seeds": [0, 1]}
STUDIES: dict[str, Any] = {
    "controls": CONTROLS,
    "controls_ut": CONTROLS | {"model": "ut", "beside": BESIDE[:3], "seeds": [0]},
    "solver": SOLVER | {"named": {"ratio sgd": {"constraint": "ratio"}, "log sgd": {"constraint": "log"}}},
}


def training_params(changes: dict[str, Any] | None = None) -> Params:
    """`fake_params` with the models and the studies of controls and solvers in use."""
    own = {f"study.{name}": values for name, values in STUDIES.items()}
    own |= {f"profiles.demo.studies.{name}": {"seeds": values["seeds"]} for name, values in STUDIES.items()}
    own |= {"studies": list(STUDIES), "video.models": MODELS, "video.datasets": ["ucsd"]}
    own |= {"profiles.demo.video.seeds": [0, 1, 2], "profiles.demo.video.eps": [], "text.models": ["ut_text"]}
    return fake_params(own | (changes or {}))


def with_training(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The same and, of every trained cell, numbers on its training; of seed 0 those of every epoch."""
    losses = select(results, metric="validation_loss", split="validation")
    tables = [results]
    for cell, rows in losses.groupby(CELL):
        words = dict(zip(CELL, cell, strict=True))
        f = rows.sort_values("layer")["value"].to_numpy(float)
        enforcing = params.components["arms"][words["arm"]]["ENFORCES"]
        tables.append(_rows(words, _numbers(words, enforcing), len(f) - 1))
        if words["seed"] == 0:
            tables += [_by_epoch(words, metric, values) for metric, values in _epochs(f, enforcing).items()]
    return pd.concat(tables, ignore_index=True)


def _numbers(cell: dict[str, Any], enforcing: bool) -> dict[str, float]:
    several = cell["arm"] != "unconstrained" or cell["model"] != "dust_shared"
    numbers = {"oscillation": 0.03, "clipped": 0.2, "seconds": 11.0 if enforcing else 10.0}
    numbers |= {"parameters": 256.0**2 * (cell["layers"] if several else 1)}
    ascent = {
        "active": 1.0,
        "descent_active": 1.0,
        "multiplier_oscillation": 0.08,
        "slackness": 0.04,
        "feasible_epochs": 0.9,
    }
    return numbers | (ascent if enforcing else {})


def _epochs(f: np.ndarray, enforcing: bool) -> dict[str, np.ndarray]:
    """By metric the values (epochs, layers): losses that settle at f, and multipliers that settle too."""
    epoch = np.arange(1, EPOCHS + 1)[:, None]
    layer = np.arange(len(f))[None]
    swing = 0.3 * np.exp(-epoch / 8) * np.sin(0.9 * epoch + layer)
    losses = f * (1 + 2 * np.exp(-epoch / 3) + swing * enforcing)
    multipliers = enforcing * (epoch > WARMUP) * (0.4 + 0.2 * layer) * (1 - np.exp(-(epoch - WARMUP) / 5) + swing)
    multipliers = multipliers.clip(min=0)
    weights = multipliers - 0.75 * np.roll(multipliers, -1, axis=1)
    weights[:, -1] = 1 + multipliers[:, -1]
    violations = losses / np.roll(losses, 1, axis=1) - 0.75
    violations[:, 0] = losses[:, 0] / 6.5 - 1
    found = {"loss": losses, "weight": weights, "violation": violations}
    found |= {"multiplier": multipliers} if enforcing else {}
    return {f"{name}_epoch": values for name, values in found.items()}


def _by_epoch(cell: dict[str, Any], metric: str, values: np.ndarray) -> pd.DataFrame:
    epochs, depth = values.shape
    places = {"bin": np.repeat(np.arange(1.0, epochs + 1), depth), "layer": np.tile(np.arange(depth), epochs)}
    given = {"split": "validation", "gamma": cell["eps"], "metric": metric}
    return pd.DataFrame(ABSENT | cell | given | places | {"value": values.ravel()})


def _rows(cell: dict[str, Any], numbers: dict[str, float], layer: int) -> pd.DataFrame:
    given = ABSENT | cell | {"split": "validation", "gamma": cell["eps"], "layer": layer}
    return pd.DataFrame([given | {"metric": metric, "value": value} for metric, value in numbers.items()])


def text_controls_params(changes: dict[str, Any] | None = None) -> Params:
    """`training_params` with controls of a classifier as the one study, and no video."""
    own: dict[str, Any] = {"studies": ["controls_distilbert"], "text.models": ["distilbert"]}
    own |= {"profiles.demo.studies.controls_distilbert": {"seeds": [0, 1]}}
    own |= {"text.datasets": ["imdb"], "video.datasets": [], "lm.datasets": []}
    return training_params(own | (changes or {}))
