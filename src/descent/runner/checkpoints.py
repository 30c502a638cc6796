"""The newest state of an unfinished stack: written whole or not at all."""

import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from descent.errors import short_of_memory
from descent.io.folders import atomic_file
from descent.runner import integrity

GPU = "CUDA"  # what torch says of a machine, and not of the file that it reads


@dataclass(frozen=True)
class FileCheckpoint:
    """A checkpoint in one file."""

    path: Path

    def save(self, pieces: dict[str, Any], run: Any) -> None:
        """Write what a resumed run needs to go on bit for bit.

        Args:
            pieces: model, optimizer and arm, each with a state_dict.
            run: a training.loop.Run.
        """
        state = {name: piece.state_dict() for name, piece in pieces.items()} | {"run": vars(run)}
        with atomic_file(self.path) as partial:
            torch.save(state, partial)
            integrity.seal(partial)

    def _state(self) -> dict[str, Any]:
        """What the file holds, on the CPU; nothing where it cannot be read.

        Raises:
            MemoryError: there is too little of it; the file may be whole.
            RuntimeError: a GPU's memory is full, or the GPU fails; as well.
            OSError: the disk or the network fails; as well.
        """
        try:
            content = io.BytesIO(integrity.unsealed(self.path))  # torch itself reads flipped bits
            found = torch.load(content, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
            if short_of_memory(error):
                raise MemoryError(str(error)) from None
            if isinstance(error, torch.OutOfMemoryError) or GPU in str(error):
                raise
            integrity.damage(error)
            return {}
        return found if isinstance(found, dict) else {}

    def restore(self, pieces: dict[str, Any], run: Any, device: torch.device) -> None:
        """Load the state written by save into pieces and run; do nothing where there is none, or a damaged one.

        The CPU reads it, and each takes to the device what belongs there: a GPU never holds all of it twice.

        Raises:
            MemoryError, RuntimeError, OSError: as _state; the file stays as it is.
        """
        if not self.path.exists():
            return
        state = self._state()
        if not state.keys() >= {*pieces, "run"}:
            integrity.set_aside(self.path, "it is no checkpoint")
            return
        for name, piece in pieces.items():
            piece.load_state_dict(_placed(state[name], device) if name == "arm" else state[name])
        for name, value in state["run"].items():
            setattr(run, name, value)
        run.alive, run.missed, run.score = (own.to(device) for own in (run.alive, run.missed, run.score))
        run.weights = {name: value.to(device) for name, value in run.weights.items()}


def _placed(state: Any, device: torch.device) -> Any:
    """An arm's state on its device, less those of optimizers: each knows what of its own stays on the CPU."""
    if isinstance(state, torch.Tensor):
        return state.to(device)
    if isinstance(state, dict) and "param_groups" not in state:
        return {name: _placed(value, device) for name, value in state.items()}
    return state
