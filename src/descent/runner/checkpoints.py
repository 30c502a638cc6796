"""The newest state of an unfinished stack: written whole or not at all."""

import os
from pathlib import Path
from typing import Any

import torch


def save(path: Path, parts: dict[str, Any], run: Any) -> None:
    """Write what a resumed run needs to go on bit for bit.

    Args:
        parts: model, optimizer and arm, each with a state_dict.
        run: a training.loop.Run.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".partial{os.getpid()}")
    state = {name: part.state_dict() for name, part in parts.items()} | {"run": vars(run)}
    try:
        torch.save(state, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def restore(path: Path, parts: dict[str, Any], run: Any, device: torch.device) -> None:
    """Load the state written by save into parts and run; do nothing where there is none."""
    if not path.exists():
        return
    state = torch.load(path, map_location=device, weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(state[name])
    for name, value in state["run"].items():
        setattr(run, name, value)
    run.epoch = run.epoch.cpu()
