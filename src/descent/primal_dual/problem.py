"""The constrained problem's parameters: alpha, R0 and rho are the paper's symbols."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from descent.schema import Count, NonNegative, Positive, Schema, Share


class Problem(Schema):
    """Problem (4), which the paper's text calls (2), with its cap, and how Algorithm 1 solves it."""

    alpha: Share
    R0: Positive
    margin: Share  # enforced to spare: alpha + margin and R0 (1 - margin), while feasibility asks for alpha and R0
    margin_start: Share = 0.0  # the margin that training begins with (continuation); older runs do not hold it
    cap_layer: Annotated[int, Field(ge=0, le=1)]  # Literal[0, 1] would take true
    constraint: Literal["difference", "ratio", "log"]
    through_previous: bool
    resilience: Literal["slacks", "decay", "none"]
    rho: Positive
    restart: bool
    reset_moments: bool
    slack_optimizer: Literal["adam", "sgd"]
    slack_lr: Positive
    dual_optimizer: Literal["adam", "sgd", "nupi"]
    nupi_gain: NonNegative  # K_P of nupi, in units of its integral gain
    nupi_smoothing: Share  # nu of nupi
    dual_lr: Positive
    dual_every: Count
    dual_forward: Literal["same", "fresh"]
    dual_mean: Share  # the decay of the running mean of f that the duals look at; 0: the batch alone
    warmup_epochs: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _something_is_left(self) -> "Problem":
        for name in ("margin", "margin_start"):
            if self.alpha + (share := getattr(self, name)) >= 1:
                raise ValueError(f"alpha {self.alpha:g} and {name} {share:g} leave a layer no loss: lower one")
        return self
