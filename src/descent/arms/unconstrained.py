"""ERM: the last layer's loss, eq. (3), and nothing to enforce."""

from jaxtyping import Float
from torch import Tensor

from descent.schema import Schema
from descent.training.arm import Base

LABEL = "unconstrained"
ENFORCES = False
ALL_LAYERS = False


class Settings(Schema):
    """None."""


class Arm(Base):
    """Minimise f_L."""

    recordable = True

    def __init__(self, settings: list[Settings], layers: int, device: object) -> None:
        """Of a stack; nothing differs between its cells."""

    def objective(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, " cells"]:
        """f_L."""
        return f[:, -1]

    def watched(self, f: Float[Tensor, "cells depth"], epoch: int) -> Float[Tensor, "cells 1"]:
        """f_L: nothing is asked of the layers below, whose losses may grow while it falls."""
        return f[:, -1:]
