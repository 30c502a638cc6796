"""A stack's newest state comes back whole: to the devices it was on, and not for damaged where memory is short."""

import errno
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from descent.arms import constrained
from descent.cells import Cell
from descent.errors import sentence
from descent.io.folders import PARTIAL, abandoned
from descent.runner import integrity
from descent.runner.checkpoints import FileCheckpoint
from descent.tasks.common.items import setting
from descent.training.loop import Run
from tests.fakes.core import small_params, unfuse

LAYERS, CPU, META = 3, torch.device("cpu"), torch.device("meta")
SHORT = {
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000 bytes.": (RuntimeError, MemoryError),
    "[Errno 12] Cannot allocate memory": (partial(OSError, errno.ENOMEM), MemoryError),
    "CUDA out of memory. Tried to allocate 9 GiB.": (torch.OutOfMemoryError, torch.OutOfMemoryError),
    "CUDA error: out of memory": (RuntimeError, RuntimeError),
    "CUDA driver error: out of memory": (RuntimeError, RuntimeError),
}


def stack(device: torch.device) -> tuple[dict[str, Any], Run]:
    """The parts of one cell, whose duals have two optimizers and a running mean, and its run."""
    params = small_params({"objectives.constrained": {"dual_mean": 0.9, "warmup_epochs": 0}})
    asked = setting(params, Cell("video", "ucsd", "dust", "constrained", LAYERS, 0.13, seed=0)).values
    model, arm = torch.nn.Linear(2, 2).to(device), constrained.Arm([asked], LAYERS, device)
    optimizer = torch.optim.Adam(model.parameters())
    score = torch.ones(1, device=device)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    run = Run(
        score > 0, score, score.clone(), torch.ones(1, dtype=torch.int64), weights, [{"loss": torch.ones(1)}]
    )
    return {"model": model, "optimizer": optimizer, "arm": arm}, run


def step(parts: dict[str, Any], run: Run) -> None:
    """Of the weights and of the duals."""
    parts["model"](torch.ones(2, 2, device=run.score.device)).sum().backward()
    parts["optimizer"].step()
    f = torch.ones(1, LAYERS + 1, device=run.score.device, requires_grad=True)
    parts["arm"].objective(f, 0).sum().backward()
    parts["arm"].update(lambda: f, run.alive, 0)


def tensors(state: Any) -> list[tuple[str, str]]:
    """The device of each tensor of a state, with the last word of its place."""
    items = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    found = [(str(name), value.device.type) for name, value in items if isinstance(value, torch.Tensor)]
    return found + [place for _, value in items for place in tensors(value)]


@pytest.mark.filterwarnings("ignore:for .*copying from a non-meta parameter")
def test_each_part_comes_back_to_the_device_that_an_uninterrupted_run_has_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfuse(monkeypatch)
    file = FileCheckpoint(tmp_path / "stack.pt")
    here, there, whole = stack(CPU), stack(META), stack(META)
    step(*here)
    file.save(*here)
    file.restore(*there, META)
    for own in (there, whole):
        step(*own)
    found, expected = (
        tensors({name: part.state_dict() for name, part in parts.items()} | {"run": vars(run)})
        for parts, run in (there, whole)
    )
    assert found == expected and {"meta", "cpu"} == {kind for _, kind in found}
    assert [kind for name, kind in found if name == "step"] == ["cpu"] * 4, "of an optimizer that is not fused"


def test_a_state_takes_the_place_of_the_former_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, own = FileCheckpoint(tmp_path / "stack.pt"), stack(CPU)
    file.save(*own)
    before = file.path.read_bytes()

    def full(partial: Path) -> None:
        assert PARTIAL in partial.name and not abandoned(partial) and file.path.read_bytes() == before
        raise OSError(errno.ENOSPC, "no room", str(partial))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room") as found:
        patch.setattr(integrity, "seal", full)
        file.save(*own)
    assert sentence(found.value).startswith(f"the disk is full ({file.path})")
    assert list(tmp_path.iterdir()) == [file.path] and file.path.read_bytes() == before
    file.save(*own)
    file.restore(*own, CPU)
    assert list(tmp_path.iterdir()) == [file.path]


@pytest.mark.parametrize("told", SHORT)
def test_too_little_memory_is_no_damage(told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, own = FileCheckpoint(tmp_path / "stack.pt"), stack(CPU)
    file.save(*own)
    kind, passed = SHORT[told]

    def load(*arguments: object, **others: object) -> None:
        raise kind(told)

    with monkeypatch.context() as patch, pytest.raises(passed) as found:
        patch.setattr(torch, "load", load)
        file.restore(*own, CPU)
    assert "memory" in sentence(found.value) and file.path.exists()
    assert not list(tmp_path.glob(f"*{integrity.ASIDE}*"))
    file.restore(*own, CPU)
