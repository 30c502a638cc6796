"""What the tests of estimates ask for: the part of one model, in a project whose data are prepared."""

import json
from pathlib import Path

import pytest
import torch

from descent.config import Params
from descent.costs.devices import AtHand
from descent.costs.parts import Costs, Part
from tests.fakes.core import DATASET, enter_project

CPU = torch.device("cpu")
DUST = {"studies": [], "video.models": ["dust"], "text.datasets": [], "lm.datasets": []}


def enter_demo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose prepared data are of the profile that asks."""
    enter_project(folder, monkeypatch)
    meta = Path("data/prepared") / DATASET / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"profile": "demo"}))


def part(params: Params) -> Part:
    """What the one part of these parameters costs, in two places of a CPU."""
    (found,) = Costs(params, AtHand(CPU, 2)).parts()
    return found
