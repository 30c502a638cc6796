"""Replay without the layers that the constraints made worse: max(w_l, 0) for w_l."""

import torch

from descent.arms import replay
from descent.arms.replay import COLUMNS, FOLLOWS, Settings

__all__ = ["COLUMNS", "FOLLOWS", "Settings"]

LABEL = "replay, positive part"
ENFORCES = False
ALL_LAYERS = True


class Arm(replay.Arm):
    """Minimise sum_l max(w_l, 0) f_l: whether raising f_{l-1} matters."""

    def __init__(self, settings: list[Settings], layers: int, device: torch.device) -> None:
        super().__init__(settings, layers, device)
        self.weights = self.weights.clamp(min=0)
