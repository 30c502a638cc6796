"""Made-up rows of the text experiments and their studies, as evaluation writes them."""

import math
import zlib

import numpy as np

from descent.analysis.select import TRANSFER
from descent.cells import Cell, grid, study_cells
from descent.config import Params
from tests.fakes.replicates import replicate_rows

CLASSES = {"imdb": 2, "mnli": 3}
TOP = {"imdb": 0.9, "mnli": 0.78}  # accuracy without noise
STANDS = {"ut_text": 2.6, "distilbert": 1.1, "roberta": 1.0}  # the noise at which half of that is lost
KINDS = ("fiction", "travel", "letters (unseen)")
BINS = [round(0.02 * step, 2) for step in range(101)]


def text_rows(params: Params) -> list[dict]:
    """Rows for every cell of text and of its studies; only the constrained arm descends."""
    items = [(dataset, model) for dataset in params.text.datasets for model in params.text.models]
    cells = [cell for item in items for cell in grid(params, "text", *item)]
    studies = {name: params.studied(name).task for name in params.studies}
    cells += [cell for name, task in studies.items() if task == "text" for cell in study_cells(params, name)]
    rows = [row for cell in cells for row in _cell_rows(params, cell)]
    kinds = [cell for cell in cells if cell.experiment == "text" and cell.dataset == "mnli"]
    return rows + [row for cell in kinds for row in _kind_rows(params, cell)]


def _jitter(cell: Cell, *words: object) -> float:
    """A reproducible number in [-1, 1] that differs from cell to cell."""
    return zlib.crc32(repr((cell, words)).encode()) / 2**31 - 1


def _strength(cell: Cell) -> float:
    """How much the constraints do: nothing where there are none, more with alpha in its study."""
    if cell.arm != "constrained":
        return 0.0
    return 3.0 * float(cell.varied) if cell.experiment == "alpha" else 0.35


def _accuracy(cell: Cell, gamma: float) -> float:
    chance, strength = 1 / CLASSES[cell.dataset], _strength(cell)
    middle = STANDS[cell.model] + 0.5 * cell.eps + strength + 0.05 * _jitter(cell, "middle")
    top = TOP[cell.dataset] - 0.004 * strength + 0.003 * _jitter(cell, "top")
    return chance + (top - chance) / (1 + math.exp((gamma - middle) / 0.25))


def _losses(cell: Cell, gamma: float) -> list[float]:
    """f_0 ... f_L from chance to the last layer's: geometric when constrained, late and with a spike when not."""
    start, depth = math.log(CLASSES[cell.dataset]), cell.layers
    last = -0.9 * math.log(_accuracy(cell, gamma)) + 0.02 * (1 + _jitter(cell, "loss"))
    shares = [layer / depth for layer in range(depth + 1)]
    if cell.arm == "constrained":
        return [start * (last / start) ** share for share in shares]
    spike = [0.35 * abs(_jitter(cell, "spike")) * (layer == depth - 2) for layer in range(depth + 1)]
    return [start + (last - start) * share**6 + up for share, up in zip(shares, spike, strict=True)]


def _cell_rows(params: Params, cell: Cell) -> list[dict]:
    identity = {"profile": params.profile, "bin": 0.0, **vars(cell)}
    rows = []

    def add(split: str, gamma: float, layer: int, metric: str, value: float, **more: float) -> None:
        place = {"split": split, "gamma": gamma, "layer": layer, "metric": metric, "value": float(value)}
        rows.append(identity | place | more)

    for gamma in sorted({*map(float, params.text.evaluation.gammas), cell.eps}):
        accuracy, chance = _accuracy(cell, gamma), 1 / CLASSES[cell.dataset]
        for layer, loss in enumerate(_losses(cell, gamma)):
            add("test", gamma, layer, "loss", loss)
            share = layer / cell.layers if cell.arm == "constrained" else (layer / cell.layers) ** 6
            add("test", gamma, layer, "accuracy", chance + (accuracy - chance) * share)
    held_to = params.problem(cell.dataset, cell.model)
    losses = _losses(cell, cell.eps)
    for layer, loss in enumerate(losses):
        add("validation", cell.eps, layer, "validation_loss", 1.01 * loss)
        if layer >= held_to.cap_layer:
            bound, base = (
                (held_to.R0, held_to.R0)
                if layer == 0
                else ((1 - held_to.alpha) * losses[layer - 1], losses[layer - 1])
            )
            for split in ("validation", "test"):
                add(split, cell.eps, layer, "violation", (loss - bound) / base)
    constrained = cell.arm == "constrained"
    states = {"validation": {"diverged": 0, "epoch": 4, "feasible": constrained, "lr": 0.001}}
    states["test"] = {"feasible": constrained} | _ratios(cell, held_to.alpha)
    if constrained:
        alpha = float(cell.varied) if cell.experiment == "alpha" else held_to.alpha
        rate = 0.01 * (1 + 0.5 * cell.seed)
        rate = float(cell.varied) if cell.experiment == "dual_lr" else rate
        states["validation"] |= {"dual_lr": rate, "alpha": alpha, "rho": held_to.rho * (1 + 0.1 * cell.seed)}
    for split, values in states.items():
        for metric, value in values.items():
            add(split, cell.eps, cell.layers, metric, value)
    for edge, share in zip(BINS, _shares(cell), strict=True):
        add("test", cell.eps, cell.layers, "ratio_share", share, bin=edge)
    levels = sorted(set(map(float, params.text.evaluation.gammas)))
    swept = np.array([_accuracy(cell, gamma) for gamma in levels])
    inside = np.array(levels) <= cell.eps + 1e-9
    scores = {"area": np.trapezoid(swept, levels), "descending": constrained}
    scores |= {
        "accuracy_in_distribution": swept[inside].mean(),
        "accuracy_out_of_distribution": swept[~inside].mean(),
    }
    scores |= {name: states["test"][name] for name in ("ratio_mean", "ratio_median", "ratio_below_one")}
    return rows + replicate_rows(params.text.evaluation, identity, scores, items=400)


def _kind_rows(params: Params, cell: Cell) -> list[dict]:
    """The cell on every kind of test text, at its own level."""
    place = {"profile": params.profile, "bin": 0.0, "split": "test", "shift": TRANSFER, "metric": "accuracy"}
    place |= {"gamma": cell.eps, "layer": cell.layers, **vars(cell)}
    top = _accuracy(cell, cell.eps)
    return [place | {"tested": kind, "value": top - 0.05 * step} for step, kind in enumerate(KINDS)]


def _shares(cell: Cell) -> np.ndarray:
    """The shares of a bump of ratios below 1 for the constrained arm, about 1 for the other; they sum to 1."""
    middle = {"none": 0.9, "": 0.97}.get(cell.varied, 0.84)
    middles = np.array(BINS) + 0.01
    weights = np.exp(-(((middles - middle) / 0.22) ** 2)) + 0.02 * np.exp(-middles)
    weights[-1] += 0.4
    return weights / weights.sum()


def _ratios(cell: Cell, alpha: float) -> dict[str, float]:
    """What the made-up histogram gives for the four numbers about it."""
    shares, edges = _shares(cell), np.array(BINS)
    return {
        "ratio_mean": float(shares @ (edges + 0.01)),
        "ratio_median": float(edges[np.searchsorted(shares.cumsum(), 0.5)] + 0.01),
        "ratio_below_one": float(shares[edges < 1 - 1e-9].sum()),
        "ratio_below_target": float(shares[edges < 1 - alpha - 1e-9].sum()),
    }
