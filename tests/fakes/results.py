"""A results table with plausible curves, for the tests of everything downstream of evaluation."""

import json
import math
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis import shifts
from descent.analysis.results import ABSENT
from descent.analysis.select import TRAINED, TRANSFER, select
from descent.cells import REFERENCES, Cell, grid, reference_cells, study_cells
from descent.config import Params
from descent.io.core_yaml import read
from tests.fakes.replicates import replicate_rows
from tests.fakes.results_lm import lm_rows
from tests.fakes.results_text import text_rows

PARAMS = Path(__file__).parent.parent / "params.yaml"  # the tests' own: a user's edit changes no test
SIGMA = {"avenue": 63.0, "ucsd": 46.0, "shanghaitech": 55.0}
INTENSITY = {"avenue": 120.0, "ucsd": 106.0, "shanghaitech": 134.0}
COMPONENTS: dict[str, dict[str, dict[str, Any]]] = {
    "arms": {
        "constrained": {"LABEL": "constrained", "ENFORCES": True, "ALL_LAYERS": True},
        "unconstrained": {"LABEL": "unconstrained", "ENFORCES": False, "ALL_LAYERS": False},
        "deep_supervision": {"LABEL": "deep supervision", "ENFORCES": False, "ALL_LAYERS": True},
        "penalty": {"LABEL": "penalty", "ENFORCES": False, "ALL_LAYERS": True},
        "constrained_range": {
            "LABEL": "constrained, range of noise",
            "ENFORCES": True,
            "ALL_LAYERS": True,
            "NOISE": "range",
        },
        "erm_range": {
            "LABEL": "ERM, range of noise",
            "ENFORCES": False,
            "ALL_LAYERS": False,
            "NOISE": "range",
        },
        "replay": {"LABEL": "replay", "ENFORCES": False, "ALL_LAYERS": True},
        "replay_positive": {"LABEL": "replay, positive part", "ENFORCES": False, "ALL_LAYERS": True},
    },
    "models": {
        "ut": {"LABEL": "UT", "TASK": "video", "INPUTS": "patches", "TIED": {"decouple": False}},
        "dust": {"LABEL": "DUST", "TASK": "video", "INPUTS": "patches", "TIED": {"dictionaries": "shared"}},
        "dust_per_layer": {
            "LABEL": "DUST, a dictionary a layer",
            "TASK": "video",
            "INPUTS": "patches",
            "LIKE": "dust",
        },
        "dust_shared": {"LABEL": "DUST, one dictionary", "TASK": "video", "INPUTS": "patches", "LIKE": "dust"},
        "vit": {"LABEL": "ViT", "TASK": "video", "INPUTS": "frames"},
        "ut_text": {"LABEL": "UT", "TASK": "text"},
        "distilbert": {"LABEL": "DistilBERT", "TASK": "text"},
        "roberta": {"LABEL": "RoBERTa", "TASK": "text"},
        "causal_lm": {"LABEL": "causal language model", "TASK": "lm"},
    },
    "shifts": {
        "gaussian": {"LABEL": "Gaussian noise", "TASKS": ["video", "text", "lm"], "ENERGY": True},
        "salt_and_pepper": {"LABEL": "salt and pepper", "TASKS": ["video"], "ENERGY": True},
        "uniform": {"LABEL": "uniform", "TASKS": ["video", "text", "lm"], "ENERGY": True},
    },
    "tasks.video.datasets": {
        name: {"LABEL": label}
        for name, label in (("avenue", "Avenue"), ("ucsd", "UCSD"), ("shanghaitech", "ShanghaiTech"))
    },
    "tasks.text.datasets": {
        "imdb": {"LABEL": "IMDb", "CLASSES": ["negative", "positive"]},
        "mnli": {"LABEL": "MNLI", "CLASSES": ["entailment", "neutral", "contradiction"], "GROUP": "genre"},
    },
    "tasks.lm.datasets": {"alpaca": {"LABEL": "Alpaca"}},
}
EXPECTED = {  # the values that expectations here count on
    "profile": "demo",
    "eps": 0.13,
    "method": "constrained",
    "text.eps": 0.4,
    "video.evaluation.bootstrap": 5,
    "text.evaluation.bootstrap": 5,
    "lm.evaluation.bootstrap": 5,
    "objectives.constrained.models.ut.cap_layer": 1,
    "profiles.demo.video.layers": [3, 5],
    "profiles.demo.video.eps": [0.0, 0.15],
    "profiles.demo.video.models.vit.layers": [4],
    "profiles.demo.text.eps": [0.0, 1.0],
    "profiles.demo.text.seeds": [0, 1, 2],
    "profiles.demo.text.models.ut_text.layers": [3, 5],
    "profiles.demo.text.models.roberta.layers": [8],
    "profiles.demo.studies.alpha": {"values": [0.02, 0.1, 0.2], "seeds": [0, 1, 2]},
    "profiles.demo.studies.dual_lr": {"values": [0.001, 0.01, 0.1], "seeds": [0, 1, 2]},
    "profiles.demo.studies.resilience": {"values": ["none", "decay"], "seeds": [0, 1, 2]},
}


_TABLES: dict[str, pd.DataFrame] = {}


def fake_params(changes: dict[str, Any] | None = None, **knobs: Any) -> Params:
    """The demo profile of tests/params.yaml with EXPECTED, then `changes` by dotted names, then `knobs`."""
    return _params(json.dumps([*EXPECTED.items(), *(changes or {}).items(), *knobs.items()]))


@cache
def _params(changes: str) -> Params:
    values = json.loads(_frozen())
    for path, value in json.loads(changes):
        *parents, last = path.split(".")
        node = values
        for parent in parents:
            node = node[parent]
        node[last] = value
    return Params.model_validate_json(json.dumps(values))


@cache
def _frozen() -> str:
    return json.dumps(read(PARAMS) | {"components": COMPONENTS})


def fake_results(params: Params) -> pd.DataFrame:
    """Rows for every cell that params.yaml asks for, video first; only the constrained arm always descends.

    Whoever asks with equal parameters shares them; pandas copies what a test changes.
    """
    asked = params.model_dump_json()
    if asked not in _TABLES:
        _TABLES[asked] = _table(params)
    return _TABLES[asked].copy(deep=False)


def _table(params: Params) -> pd.DataFrame:
    video = [(dataset, model) for dataset in params.video.datasets for model in params.video.models]
    cells = [cell for item in video for cell in grid(params, "video", *item)]
    studies = {name: params.studied(name).task for name in params.studies}
    cells += [cell for name, task in studies.items() if task == "video" for cell in study_cells(params, name)]
    rows = [row for cell in cells for row in _cell_rows(params, cell)]
    rows += [row for cell in cells if cell.experiment == "video" for row in _transfer_rows(params, cell)]
    rows += [
        row for item in video for cell in reference_cells(params, *item) for row in _reference_rows(params, cell)
    ]
    return pd.DataFrame([ABSENT | row for row in rows + text_rows(params) + lm_rows(params)])


def with_another_shift(results: pd.DataFrame) -> pd.DataFrame:
    """The same, and every test row under a second shift as well, at the same levels, with other numbers."""
    tested = results[results["metric"].isin(["loss", "rmse", "rmse_clipped", "psnr", "ssim", "accuracy"])]
    other = select(tested, shift=TRAINED).assign(shift="blur", value=lambda rows: 0.5 * rows["value"] + 0.1)
    return pd.concat([results, other], ignore_index=True)


def change(results: pd.DataFrame, value: float, **where: object) -> None:
    """Give the matching rows, of which there must be some, another value."""
    chosen = select(results, **where).index
    assert len(chosen)
    results.loc[chosen, "value"] = value


def _levels(params: Params) -> dict[str, list[float]]:
    """The levels of every shift; of TRAINED the gammas and the training levels."""
    studies = [params.studied(name).eps for name in params.studies]
    own = {*params.video.evaluation.gammas, *params.budget.video.eps, params.eps, *studies}
    evaluation = params.video.evaluation
    levels = {shift: params.shifts[shift]["levels"] or evaluation.energies for shift in params.shifts_of("video")}
    return levels | {TRAINED: sorted(map(float, own))}


def _jitter(cell: Cell, *words: object) -> float:
    """A reproducible number in [-1, 1] that differs from cell to cell."""
    identity = {key: value for key, value in vars(cell).items() if key != "varied"}  # no video cell varies
    text = repr((identity, words)).encode()
    return zlib.crc32(text) / 2**31 - 1


def _cell_rows(params: Params, cell: Cell) -> list[dict]:
    constrained = cell.arm == "constrained"
    failed = cell.experiment == "infeasible" and constrained
    identity = {"profile": params.profile, "shift": TRAINED, **vars(cell)}
    held_to = params.problem(cell.dataset, cell.model)
    bias = INTENSITY[cell.dataset] if failed else (7.5 if constrained else 6.5) + _jitter(cell, "bias")
    slope = (
        0.0 if failed else (0.62 - 0.015 * cell.layers if constrained else 0.72) + 0.04 * _jitter(cell, "slope")
    )
    slope -= 0.0 if failed else 0.6 * cell.eps
    rows = []
    for shift, levels in _levels(params).items():
        for gamma in levels:
            place = identity | {"split": "test", "shift": shift, "gamma": gamma}
            rmse = math.hypot(bias, (2 - (shift == TRAINED)) * slope * gamma * SIGMA[cell.dataset])
            rows += _quality(place | {"layer": cell.layers}, rmse)
            if shift == TRAINED:
                rows += _in_parts(place | {"layer": cell.layers}, bias, math.sqrt(rmse**2 - bias**2))
            rows += [
                place | {"layer": layer, "metric": "loss", "value": loss}
                for layer, loss in enumerate(_losses(cell, rmse))
            ]
    at_eps = {"split": "validation", "gamma": cell.eps}
    losses = _losses(cell, math.hypot(bias, slope * cell.eps * SIGMA[cell.dataset]))
    for layer, loss in enumerate(losses):
        rows.append(identity | at_eps | {"layer": layer, "metric": "validation_loss", "value": loss})
        if layer >= held_to.cap_layer:
            cap = loss / held_to.R0 - 1
            violation = cap if layer == held_to.cap_layer else loss / losses[layer - 1] - (1 - held_to.alpha)
            missed = {"layer": layer, "metric": "violation", "value": violation}
            rows += [identity | at_eps | missed, identity | at_eps | missed | {"split": "test"}]
        tested = {"split": "test", "layer": layer, "metric": "rmse_layer", "value": 255 * math.sqrt(loss / 256)}
        rows.append(identity | at_eps | tested)
        ratio = {"metric": "psnr_layer", "value": 10 * math.log10(256 / loss)}
        rows.append(identity | at_eps | tested | ratio)
        if layer and cell.model != "vit":
            length = 0.7 + 0.1 * layer + 0.2 * abs(_jitter(cell, f"step {layer}"))
            rows.append(identity | at_eps | tested | {"metric": "step_length", "value": length})
    feasible = float(constrained and not failed)
    gammas = params.video.evaluation.gammas
    swept = [r for r in rows if r["metric"] == "rmse" and r["shift"] == TRAINED and r["gamma"] in gammas]
    scores = {"descending": constrained}
    for name, inside in (("in", True), ("out_of", False)):
        chosen = [row["value"] for row in swept if (row["gamma"] <= cell.eps + 1e-9) == inside]
        scores[f"log_rmse_{name}_distribution"] = sum(map(math.log, chosen)) / len(chosen)
    rows += replicate_rows(params.video.evaluation, identity, scores, items=5)
    for shift in shifts.others(params, "video"):
        own = [row["value"] for row in rows if row["metric"] == "rmse" and row["shift"] == shift]
        score = {"log_rmse": sum(map(math.log, own)) / len(own)}
        rows += replicate_rows(params.video.evaluation, identity | {"shift": shift}, score, items=5)
    states = {"feasible": feasible, "diverged": 0.0, "epoch": 17.0}
    last = {"layer": cell.layers}
    rows.append(identity | at_eps | last | {"split": "test", "metric": "feasible", "value": feasible})
    return rows + [identity | at_eps | last | {"metric": name, "value": value} for name, value in states.items()]


def _transfer_rows(params: Params, cell: Cell) -> list[dict]:
    """The cell on the other data sets: an error that neither its own nor theirs explains."""
    rows = []
    place = {"profile": params.profile, "split": "test", "shift": TRANSFER, "layer": cell.layers} | vars(cell)
    for tested in (name for name in params.video.datasets if name != cell.dataset):
        for gamma in {cell.eps, *params.video.evaluation.transfer}:
            rmse = math.hypot(10 + _jitter(cell, tested), gamma * SIGMA[cell.dataset])
            rows += _quality(place | {"tested": tested, "gamma": gamma}, rmse)
    return rows


def _losses(cell: Cell, rmse: float) -> list[float]:
    """f_0 ... f_L ending at the last layer's RMSE: geometric when constrained, with a bump when not."""
    last = 256 * (rmse / 255) ** 2
    if cell.arm == "constrained":
        return [last / 0.72 ** (cell.layers - layer) for layer in range(cell.layers + 1)]
    bumps = [1 + 0.6 * abs(_jitter(cell, layer)) * (layer % 2) for layer in range(cell.layers)]
    return [5.0 * bump / (1 + 0.2 * layer) for layer, bump in enumerate(bumps)] + [last]


def _quality(place: dict, rmse: float) -> list[dict]:
    """Rows of a last layer: the error and what follows from it."""
    values = {"rmse": rmse, "rmse_clipped": 0.98 * rmse, "ssim": 1 - min(rmse / 255, 1.0)}
    values["psnr"] = 20 * math.log10(255 / max(0.98 * rmse, 1.0))
    return [place | {"metric": metric, "value": value} for metric, value in values.items()]


def _in_parts(place: dict, bias: float, moved: float) -> list[dict]:
    """Rows of the two parts of an error."""
    return [
        place | {"metric": f"rmse_{name}", "value": value} for name, value in (("bias", bias), ("variance", moved))
    ]


def _reference_rows(params: Params, cell: Cell) -> list[dict]:
    rows = []
    for shift, levels in _levels(params).items():
        for gamma in levels:
            noisy = gamma * SIGMA[cell.dataset]
            filtered = 0.5 * noisy + 5.0 + 2.0 * list(REFERENCES).index(cell.arm)
            rmse = {"identity": noisy, "zero": INTENSITY[cell.dataset]}.get(cell.arm, filtered)
            place = {"profile": params.profile, "split": "test", "shift": shift, "gamma": gamma, "layer": 0}
            rows += _quality(place | vars(cell), rmse)
            rows.append(place | vars(cell) | {"metric": "loss", "value": 256 * (rmse / 255) ** 2})
    return rows
