"""training.compile: the same numbers, and nothing compiled anew because a batch brings new numbers or lengths."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch._dynamo.utils import counters

from descent.training.devices import compiled
from tests.fakes.core import ROOT, environment

MOST = 3  # with and without gradient, and once more when a second length shows that lengths differ
FIRST = 4  # of the library's models: pieces of the first call, in which it makes itself ready to collect states


@pytest.mark.slow
def test_compiled_cells_learn_as_others_and_are_compiled_once(tmp_path: Path) -> None:
    own = environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.training.compiled", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "recompile_limit" not in done.stderr, "what is past the limit is not compiled, and nobody says so"
    runs = json.loads(done.stdout.splitlines()[-1])
    plainly = {f"{name}, kernels" for name in ("ut", "dust", "ut_text", "distilbert", "causal_lm")}
    assert set(runs) == plainly | {"ut_text, graphs", "distilbert, graphs"}
    for name, run in runs.items():
        plain, other = np.array(run["plain"]), np.array(run["compiled"])
        moved = abs(plain[0] - plain[-1]).max()
        assert abs(plain - other).max() < 1e-3 * moved, (
            f"{name}: further than a thousandth of what training changed"
        )
        most = MOST + (FIRST if name.startswith(("distilbert", "causal_lm")) else 0)
        assert 2 <= run["graphs"] <= most, f"{name}: compiled anew for new numbers"


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own


@pytest.mark.parametrize("how", ["kernels", "graphs"])
def test_the_compiler_gives_the_same_numbers(how: str) -> None:
    """On a CPU `graphs` is `kernels`."""

    def function(x: torch.Tensor) -> list[torch.Tensor]:
        return [x.softmax(-1) @ x, x.square().sum(-1)]

    x = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
    counters.clear()
    for own, other in zip(compiled(function, how)(x), function(x), strict=True):
        torch.testing.assert_close(own, other)
    assert counters["stats"]["unique_graphs"] == 1, "it was compiled"


def test_what_a_graph_returns_outlives_its_next_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = torch.zeros(2)  # a graph answers in the same memory every time
    monkeypatch.setattr(torch, "compile", lambda function, mode: lambda x: buffer.copy_(function(x)))
    double = compiled(lambda x: 2 * x, "graphs")
    first, second = double(torch.ones(2)), double(torch.ones(2) * 5)
    assert first.tolist() == [2, 2] and second.tolist() == [10, 10]


def test_every_one_of_many_unlike_stacks_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process trains stack after stack with one function, of which torch keeps eight forms."""
    original = torch.compile
    monkeypatch.setattr(torch, "compile", lambda function, mode: original(function, backend="eager"))

    def function(layers: list[torch.Tensor]) -> torch.Tensor:
        return sum(layer.square().sum() for layer in layers)

    counters.clear()
    for depth in range(1, 13):
        assert compiled(function, "kernels")([torch.ones(2)] * depth) == 2 * depth
        assert counters["stats"]["unique_graphs"] == depth
