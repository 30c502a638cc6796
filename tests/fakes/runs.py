"""A finished run to publish and to report on, made up."""

import math
import subprocess
from pathlib import Path

import pandas as pd

from descent.analysis import epochs, kinds
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.published import of_results, publishing, reproduction
from tests.fakes.cards import card

LITTLE = {
    "profile": "small",
    "local_data": "/somewhere/of/mine",
    "video.datasets": ["ucsd"],
    "video.models": ["ut", "dust"],
    "text.datasets": [],
    "lm.datasets": [],
    "studies": [],
    "video.selection": "final",
    "arms": ["constrained", "unconstrained"],
}
META = {
    "repeated": 1,
    "digest": "ab" * 32,
    "sigma": 0.18,
    "synthetic": False,
    "frames": {"train": 300, "validation": 60, "test": 120},
    "clips": {"train": [["a", 0, 300]], "validation": [["b", 0, 60]], "test": [["c", 0, 60], ["d", 60, 60]]},
}
README = "# Title\n<!-- evidence -->\nold words\n<!-- /evidence -->\nthe rest\n"

MODELS = pd.DataFrame(
    [
        {"model": "ut", "estimate": 0.02, "low": 0.01, "high": 0.03, "why": ""},
        {"model": "dust", "estimate": -0.5, "low": -0.6, "high": -0.4, "why": "twice the epochs"},
    ]
).assign(claim="video_ood", unit="percent", datasets="avenue, ucsd")


AVERAGES = pd.DataFrame(
    [
        {"average": "trimmed mean", "estimate": 0.02, "low": 0.01, "high": 0.03, "settings": 2},
        {"average": "one setting", "estimate": 0.04, "low": 0.01, "high": 0.07, "settings": 1}
        | {"dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13},
    ]
).assign(claim="video_ood", seeds=8)


TRIALS = pd.DataFrame(
    [{"model": "ut", "arm": "constrained", "lr": 0.003, "missed": 0.0, "place": 1, "used": True}]
)


def run(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame) -> reproduction.Run:
    cells = cells_table(made_up, params)
    tables = publishing.aside(made_up, cells, params) | {
        "claims": rows,
        "models": MODELS,
        "cells": cells,
        "controls": pd.DataFrame(
            [{"study": "controls", "arm": "penalty", "varied": "", "trained": 6, "lost": 1} | GAINS]
        ),
        "shifts": of_results.shifts(made_up, params),
        "kinds": kinds.table(made_up, params),
        "epochs": epochs.table(made_up, params),
        "sensitivity": AVERAGES,
        "datasets": card().assign(dataset="ucsd"),
        "trials": TRIALS,
        "numbers": pd.DataFrame([{"model": "ut", "layers": 3, "arm": "constrained", "numbers": 65536}]),
    }
    return reproduction.Run(
        params=params,
        tables=tables,
        metas={"ucsd": META},
        made=[{"seconds": 3600.0, "cells_in_stack": 2, "device": "cpu (x)", "fingerprint": n} for n in "abcda"],
        figures={"fig03_depth.png": {"title": "Depth <L>", "caption": "What depth does."}},
        protocol="abc1234 of 2026-01-01",
    )


GAINS = {"gain_out": 0.0123, "gain_out_low": 0.01, "gain_out_high": 0.015, "inflation": 0.25}
GAINS |= {"gain_in": -0.002, "gain_in_low": math.nan, "gain_in_high": math.nan}


def part(report: str, title: str) -> str:
    return report.split(f"## {title}\n")[1].split("\n## ")[0]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(root: Path) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "data/evidence"], [*who, "commit", "-q", "-m", "protocol"]):
        subprocess.run(["git", *words], cwd=root, check=True)
