"""What every section of params.yaml is built from, and the sections that all tasks share."""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Method = Literal["constrained", "unconstrained"]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Item = TypeVar("Item")
Grid = Annotated[list[Item], Field(min_length=1)]


class Schema(BaseModel):
    """Immutable, no unknown key, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PrimalDual(Schema):
    """The constrained problem of one model (METHOD 1); alpha, R0 and rho are the paper's symbols."""

    alpha: Share
    R0: Positive
    cap_layer: Literal[0, 1]
    constraint: Literal["difference", "ratio"]
    through_previous: bool
    resilience: Literal["slacks", "decay", "none"]
    rho: Positive
    restart: bool
    reset_moments: bool
    slack_optimizer: Literal["adam", "sgd"]
    slack_lr: Positive
    dual_optimizer: Literal["adam", "sgd"]
    dual_every: Count
    dual_forward: Literal["same", "fresh"]
    warmup_epochs: Annotated[int, Field(ge=0)]


class StackElements(Schema):
    cpu: Count
    cuda: Count


class Training(Schema):
    schedule: Literal["constant", "cosine"]
    betas: Annotated[list[Share], Field(min_length=2, max_length=2)]
    clip_norm: Positive
    diverged_above: Positive
    checkpoint_seconds: NonNegative
    precision: Literal["float32", "tf32", "bf16"]
    compile: bool
    stack_elements: StackElements


class Optimizer(Schema):
    """What steps the weights; AdamW takes its decay outside the moments, Adam inside."""

    kind: Literal["adam", "adamw"]
    weight_decay: NonNegative


ADAM = Optimizer(kind="adam", weight_decay=0.0)  # of every task that does not choose


class Evaluation(Schema):
    gammas: Grid[NonNegative]
    noise_draws: Count
    seed: Seed
    batch: Count
    bootstrap: Count  # resamples of the test items


class LearningRates(Schema):
    lr: Positive
    dual_lr: Positive
