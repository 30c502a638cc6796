"""The newest state of an unfinished stack: written whole or not at all."""

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class FileCheckpoint:
    """A checkpoint in one file."""

    path: Path

    def save(self, parts: dict[str, Any], run: Any) -> None:
        """Write what a resumed run needs to go on bit for bit.

        Args:
            parts: model, optimizer and arm, each with a state_dict.
            run: a training.loop.Run.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(f".partial{uuid.uuid4().hex[:8]}")
        state = {name: part.state_dict() for name, part in parts.items()} | {"run": vars(run)}
        try:
            torch.save(state, partial)
            partial.replace(self.path)
        finally:
            partial.unlink(missing_ok=True)

    def restore(self, parts: dict[str, Any], run: Any, device: torch.device) -> None:
        """Load the state written by save into parts and run; do nothing where there is none."""
        if not self.path.exists():
            return
        state = torch.load(self.path, map_location=device, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(state[name])
        for name, value in state["run"].items():
            setattr(run, name, value)
        run.epoch = run.epoch.cpu()
