"""What lies in a finished cell's folder: its record, its history by epoch and layer, its weights.

store.publish writes it. Whoever reads one reads it here, but for who asks whether it is whole (integrity.py) and
analysis/provenance.py, which stands below the runner.
"""

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import safe_open

RECORD, HISTORY, WEIGHTS = "cell.json", "history.csv", "weights.safetensors"


@dataclass(frozen=True)
class Stored:
    """A finished cell's folder, in the store or in a stage's output; whole, as `store.check` has seen."""

    place: Path

    @cached_property
    def record(self) -> dict[str, Any]:
        """What training noted: cell, fingerprint, setting, reported epoch, whether it diverged, what made it."""
        return json.loads((self.place / RECORD).read_text())

    @cached_property
    def history(self) -> pd.DataFrame:
        """A row for each epoch and layer."""
        return pd.read_csv(self.place / HISTORY)

    @property
    def reported(self) -> pd.DataFrame:
        """The history's rows of the epoch whose weights the cell has; none where it diverged at once."""
        return self.history[self.history["epoch"] == self.record["epoch"]]

    @property
    def epochs(self) -> int:
        """How many it was to train for, of which a lost cell's history has fewer."""
        return self.record.get("epochs", self.history["epoch"].nunique())

    @property
    def validation_losses(self) -> list[float]:
        """f_0 ... f_L on validation data at the reported epoch; empty without one."""
        return self.reported["loss_validation"].tolist()

    @property
    def validation_loss(self) -> float:
        """f_L on validation data; infinite where the cell diverged or has none."""
        losses = self.validation_losses
        return losses[-1] if losses and not self.record["diverged"] else math.inf

    def missed(self, tolerance: float) -> float:
        """By how much the worst violation on validation data exceeds a tolerance; 0 where nothing is enforced,
        infinite where a violation is no number."""
        reported = self.reported
        if "multiplier" not in reported or reported.empty:  # an arm that pays for violations is not held to them
            return 0.0
        worst = float(reported["violation_validation"].max(skipna=False))
        return math.inf if math.isnan(worst) else max(0.0, worst - tolerance)

    @property
    def weights(self) -> dict[str, Any]:
        """Tensors by name, without the cells axis."""
        from safetensors.torch import load_file  # who asks for no weights waits for no torch

        return load_file(self.place / WEIGHTS, device="cpu")

    @property
    def parameters(self) -> int:
        """How many numbers the weights are."""
        with safe_open(self.place / WEIGHTS, "np") as file:
            return int(sum(np.prod(file.get_slice(name).get_shape()) for name in file.keys()))  # noqa: SIM118
