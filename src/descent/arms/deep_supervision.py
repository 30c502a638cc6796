"""Deep supervision: a fixed mean of all layers' losses. Every layer is asked to be good, none to descend."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Schema
from descent.training.arm import Base

LABEL = "deep supervision"
ENFORCES = False
ALL_LAYERS = True


class Settings(Schema):
    """The weights a_l: uniform, 1 for every layer, or linear, l."""

    weights: Literal["uniform", "linear"]


class Arm(Base):
    """Minimise sum_l a_l f_l / sum_l a_l over l = 0 ... L."""

    recordable = True

    def __init__(self, settings: list[Settings], layers: int, device: torch.device) -> None:
        linear = settings[0].weights == "linear"
        weights = torch.arange(layers + 1.0, device=device) if linear else torch.ones(layers + 1, device=device)
        self.weights = weights / weights.sum()  # a mean, so that the rate means what it means for one loss

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """The weighted mean of f_0 ... f_L."""
        return f @ self.weights

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """The weights of the layers, which are what they were."""
        return {"weight_mean": self.weights.expand_as(f)}
