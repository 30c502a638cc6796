"""A results table from which verdicts follow: real data, six to eight seeds, effects that a test chooses."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from descent.analysis import effects, preconditions
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS
from descent.analysis.evidence import Evidence
from descent.analysis.results import ABSENT
from descent.analysis.shifts import others
from descent.config import Params
from tests.fakes.results import fake_params

PATHS = {
    f"profiles.demo.data.{name}": {"path": name}
    for name in ("avenue", "ucsd", "shanghaitech", "imdb", "mnli", "alpaca")
}
RESAMPLES = 16
ARMS = ("constrained", "unconstrained")
OURS = {"experiment": "video", "arm": "constrained"}
LOG_RMSE = {"in": 2.0, "out_of": 2.5}
ZERO_RMSE = 120.0
ENDS = (0.15, 0.6)  # the lowest and the highest level of other shifts


def real_params(changes: dict[str, Any] | None = None) -> Params:
    """The fakes' parameters, with data sets from folders, a pretrained language model, another shift."""
    weights = {"profiles.demo.lm.models.causal_lm.weights": {"path": "model"}}
    shifts = {"shifts.uniform": {"levels": None}}
    shifts |= {f"profiles.demo.{task}.shifts": ["gaussian", "uniform"] for task in ("text", "lm")}
    return fake_params(PATHS | weights | shifts | (changes or {}))


class Made:
    """Rows, written cell by cell.

    Args:
        seeds: how many.
        noise: standard deviation of an arm's score over seeds, and over the resamples of items, as a log-ratio or
            an accuracy. Arms have their own over seeds and items.
    """

    def __init__(self, seeds: int = 8, noise: float = 0.001) -> None:
        self.seeds, self.noise, self.rows = seeds, noise, []
        self._generator = np.random.default_rng(0)

    def table(self) -> pd.DataFrame:
        """The rows so far as a results table."""
        return pd.DataFrame([ABSENT | {"profile": "demo"} | row for row in self.rows])

    def video(
        self,
        gain: float = 0.05,
        cost: float = 0.0,
        models: tuple[str, ...] = ("ut", "dust"),
        datasets: tuple[str, ...] = ("avenue", "ucsd"),
        layers: tuple[int, ...] = (3, 5),
        parameters: tuple[int, int] = (100, 100),
        eps: float = 0.13,
    ) -> "Made":
        """Video cells of both arms with their plateau studies and the maps that learn nothing."""
        for dataset, model in product(datasets, models):
            for depth, seed, arm in product(layers, range(self.seeds), ARMS):
                ours = arm == "constrained"
                cell = _cell("video", dataset, model, arm, depth, eps, seed)
                effects = {"in": cost, "out_of": -gain} if ours else {"in": 0.0, "out_of": 0.0}
                for where, effect in effects.items():
                    self._scores(cell, f"log_rmse_{where}_distribution", LOG_RMSE[where] + effect)
                for shift in SHIFTS:
                    self._scores(cell | {"shift": shift}, "log_rmse", LOG_RMSE["out_of"] - gain * ours)
                    for gamma in ENDS:
                        rmse = np.exp(LOG_RMSE["out_of"] - gain * ours)
                        self._add(cell | {"shift": shift}, "rmse", rmse, gamma, depth)
                for gamma in sorted({*GAMMAS, eps}):
                    inside = "in" if gamma <= eps else "out_of"
                    self._add(cell, "rmse", np.exp(LOG_RMSE[inside] + effects[inside]), gamma, depth)
                self._common(cell, parameters[not ours])
            self._plateau(dataset, model, layers[0], eps)
            for name, gamma in product(("identity", "zero", "frame_mean"), sorted({*GAMMAS, eps})):
                rmse = {"identity": 46 * gamma / eps, "zero": ZERO_RMSE, "frame_mean": 20.0}[name]
                self._add(_cell("video", dataset, model, name, 0, 0.0, 0), "rmse", rmse, gamma, 0)
        return self

    def accuracy(
        self,
        experiment: str,
        dataset: str,
        model: str,
        gain: float = 0.05,
        cost: float = 0.0,
        varied: tuple[str, str] = ("", ""),
        eps: float = 0.4,
        layers: int = 3,
    ) -> "Made":
        """Cells of text or of the language model: the first arm, or value, gains `gain` and costs `cost`."""
        arms = (ARMS[0], ARMS[0] if all(varied) else ARMS[1])
        gammas = TEXT_GAMMAS if model != "causal_lm" else LM_GAMMAS
        for seed, (first, value) in product(range(self.seeds), enumerate(varied)):
            cell = _cell(experiment, dataset, model, arms[first], layers, eps, seed, value)
            self._scores(cell, "accuracy_in_distribution", 0.85 - cost * (not first))
            self._scores(cell, "accuracy_out_of_distribution", 0.7 + gain * (not first))
            self._scores(cell, "area", (0.75 + gain * (not first)) * (max(gammas) - min(gammas)))
            for name, score in (("mean", 0.9), ("median", 0.85), ("below_one", 0.6)):
                sign = 1 if name == "below_one" else -1
                self._scores(cell, f"ratio_{name}", score + sign * gain * (not first))
            for gamma in sorted({*gammas, eps}):
                self._add(cell, "accuracy", 0.85 - 0.1 * gamma, gamma, layers)
            for shift in OTHERS.get(experiment, ()):
                self._scores(cell | {"shift": shift}, "accuracy", 0.7 + gain * (not first))
                for gamma in ENDS:
                    self._add(cell | {"shift": shift}, "accuracy", 0.7 + gain * (not first), gamma, layers)
            self._common(cell, 100)
        self._plateau(dataset, model, layers, eps)
        return self

    def _common(self, cell: dict, parameters: int) -> None:
        ours, depth = cell["arm"] == "constrained", cell["layers"]
        self._scores(cell, "descending", float(ours), noise=0.0)
        self._add(cell, "test_items", 40, cell["eps"], depth)
        told = {"diverged": 0, "epoch": 5, "lr": 0.001, "parameters": parameters, "feasible": float(ours)}
        ascent = {"active": 1, "multiplier_oscillation": 0.0, "slackness": 0.04}
        told |= ascent | {"alpha": 0.1, "rho": 1.0, "dual_lr": 0.01} if ours else {}
        for metric, value in told.items():
            self._add(cell, metric, value, cell["eps"], depth, "validation")
        if cell["dataset"] in CHANCE:
            self._add(cell, "most_frequent", CHANCE[cell["dataset"]], cell["eps"], depth)
        for layer in range(depth + 1):
            self._add(cell, "validation_loss", 2.0 / 2**layer, cell["eps"], layer, "validation")
            self._add(cell, "violation", -0.1 if ours else 0.1, cell["eps"], layer, "validation")

    def _plateau(self, dataset: str, model: str, depth: int, eps: float) -> None:
        for arm in ARMS:
            cell = _cell(f"plateau_{model}", dataset, model, arm, depth, eps, 0)
            self._add(cell, "validation_loss", 0.995 * 2.0 / 2**depth, eps, depth, "validation")
            self._add(cell, "epoch", 10, eps, depth, "validation")

    def _scores(self, cell: dict, name: str, value: float, noise: float | None = None) -> None:
        noise = self.noise if noise is None else noise
        seed, *drawn = noise * self._generator.standard_normal(RESAMPLES + 1)
        for number, moved in enumerate([0.0, *drawn]):
            self._add(cell, f"{name}_replicate", value + seed + moved, cell["eps"], cell["layers"], number=number)

    def _add(
        self, cell: dict, metric: str, value: float, gamma: float, layer: int, split: str = "test", number: int = 0
    ) -> None:
        place = {"split": split, "gamma": float(gamma), "layer": layer, "bin": float(number)}
        self.rows.append(cell | place | {"metric": metric, "value": float(value)})


def _cell(
    experiment: str, dataset: str, model: str, arm: str, layers: int, eps: float, seed: int, varied: str = ""
) -> dict:
    own = {"experiment": experiment, "dataset": dataset, "model": model, "arm": arm}
    return own | {"layers": layers, "eps": eps, "seed": seed, "varied": varied}


CHANCE = {"imdb": 1 / 2, "mnli": 1 / 3}
SHIFTS = others(fake_params(), "video")
OTHERS = {task: others(real_params(), task) for task in ("text", "lm")}
_SWEEPS = {task: getattr(fake_params(), task).evaluation.gammas for task in ("video", "text", "lm")}
GAMMAS, TEXT_GAMMAS, LM_GAMMAS = _SWEEPS["video"], _SWEEPS["text"], _SWEEPS["lm"]


def everything(seeds: int = 8, noise: float = 0.001, **effects: float) -> pd.DataFrame:
    """Every claim's cells but the ViT's, the paper's own pair's and several pretrained sizes'."""
    made = Made(seeds, noise).video(**effects)
    made.accuracy("text", "imdb", "ut_text", **effects).accuracy("text", "imdb", "distilbert", **effects)
    made.accuracy("text", "imdb", "roberta", **effects)
    made.accuracy("lm", "alpaca", "causal_lm", eps=0.25, layers=4, **effects)
    made.accuracy("alpha", "imdb", "roberta", varied=("0.2", "0.02"), **effects)
    made.accuracy("dual_lr", "imdb", "roberta", gain=0.0, varied=("0.01", "0.001"))
    made.accuracy("resilience", "imdb", "roberta", varied=("decay", ""), **effects)
    rows = made.table()
    return rows.drop_duplicates([name for name in rows if name != "value"])  # studies share a plateau


def why(results: pd.DataFrame, claim: str, params: Params | None = None) -> str:
    """What stands against the claim, then against its models."""
    evidence = Evidence(results, params or real_params())
    case = Case(claim, CLAIMS[claim], effects.of_claim(claim, evidence), evidence)
    if said := preconditions.real_data(case):
        return said
    said = [preconditions.failed(case), *preconditions.failed_by_place(case).values()]
    return "; ".join(dict.fromkeys(filter(None, said)))
