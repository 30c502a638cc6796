"""The newest state of an unfinished stack: written whole or not at all."""

import io
import pickle
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from descent.io.folders import naming
from descent.runner import integrity


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
            with naming(self.path):
                torch.save(state, partial)
                integrity.seal(partial)
            partial.replace(self.path)
        finally:
            partial.unlink(missing_ok=True)

    def _state(self, device: torch.device) -> dict[str, Any]:
        """What the file holds; nothing where it cannot be read."""
        try:
            content = io.BytesIO(integrity.unsealed(self.path))  # torch itself reads flipped bits
            found = torch.load(content, map_location=device, weights_only=True)
        except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
            integrity.damage(error)
            return {}
        return found if isinstance(found, dict) else {}

    def restore(self, parts: dict[str, Any], run: Any, device: torch.device) -> None:
        """Load the state written by save into parts and run; do nothing where there is none, or a damaged one."""
        if not self.path.exists():
            return
        state = self._state(device)
        if not state.keys() >= {*parts, "run"}:
            integrity.set_aside(self.path, "it is no checkpoint")
            return
        for name, part in parts.items():
            part.load_state_dict(state[name])
        for name, value in state["run"].items():
            setattr(run, name, value)
        run.epoch = run.epoch.cpu()
