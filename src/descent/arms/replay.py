"""Replay: the weights that the multipliers gave the layers on average, from the first step on, without duals."""

import math

import pandas as pd
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Schema
from descent.training.arm import Base

LABEL = "replay"
ENFORCES = False
ALL_LAYERS = True
FOLLOWS = "constrained"  # the arm whose cells of the same setting and seed train first
COLUMNS = ("weights",)


class Settings(Schema):
    """The weights w_0 ... w_L; empty in params.yaml, as they are those of the twin's history."""

    weights: list[float] = Field(default_factory=list)

    def following(self, history: pd.DataFrame, diverged: bool) -> "Settings":
        """With the twin's mean effective weights over the epochs in which its duals moved; of a twin that diverged
        there is nothing to replay, and weights that are no numbers have the cell lost as well."""
        if diverged:
            return self.model_copy(update={"weights": [math.nan] * history["layer"].nunique()})
        weights = history.pivot(index="epoch", columns="layer", values="weight_mean")
        # In the warm-up, and until a dual first leaves zero, the weights are ERM's: no part of what is replayed.
        moved = history.pivot(index="epoch", columns="layer", values="multiplier_mean").cumsum().sum(axis=1) > 0
        mean = (weights[moved] if moved.any() else weights).dropna().mean()
        return self.model_copy(update={"weights": mean.tolist()})


class Arm(Base):
    """Minimise sum_l w_l f_l.

    The same objective as the twin's, averaged over its training, at the twin's learning rate: what is left of a
    difference between the two is the dynamics of the duals, and that the twin has a warm-up. The average counts
    all epochs alike, also those late ones in which the rate is small and weights of the ratio form are large; of a
    twin with a tighter start most of them are of that tighter problem.
    """

    recordable = True

    def __init__(self, settings: list[Settings], layers: int, device: torch.device) -> None:
        last = [0.0] * layers + [1.0]  # before a twin is known: ERM
        self.weights = torch.tensor([own.weights or last for own in settings], device=device)

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """The weighted sum of f_0 ... f_L."""
        return (self.weights * f).sum(1)

    def end_epoch(
        self, f: Float[Tensor, "cells depth"], held_out: Float[Tensor, "cells depth"]
    ) -> dict[str, Float[Tensor, "cells depth"]]:
        """The weights of the layers, which are what they were."""
        return {"weight_mean": self.weights}
