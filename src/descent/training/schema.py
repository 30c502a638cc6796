"""The sections of params.yaml about training."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from descent.schema import Count, NonNegative, Once, OptimizerName, Positive, Precision, Schema, Seed, Share


class StackElements(Schema):
    cpu: Count
    cuda: Count


class Training(Schema):
    schedule: Literal["constant", "cosine"]
    warmup: Share  # of all steps, in which the rate rises linearly
    betas: Annotated[list[Share], Field(min_length=2, max_length=2)]
    clip_norm: Positive
    diverged_above: Positive
    checkpoint_seconds: NonNegative
    precision: Precision
    compile: Literal[False, "auto", "kernels", "graphs", "both"]
    stack_elements: StackElements


class Optimizer(Schema):
    """What steps the weights: a file of training/optimizers."""

    kind: OptimizerName
    weight_decay: NonNegative


ADAM = Optimizer(kind="adam", weight_decay=0.0)  # of every task that does not choose


class Range(Schema):
    """A log-uniform search range, as multiples of the value in use."""

    low: Positive
    high: Positive

    @model_validator(mode="after")
    def _ordered(self) -> "Range":
        if not self.low <= 1 <= self.high:
            raise ValueError(f"the value in use, 1, is not between low {self.low} and high {self.high}")
        return self


class Search(Schema):
    """What the trials of each arm vary; the first trial is always the value in use."""

    startup_trials: Count
    seed: Seed
    ranges: dict[str, Range]
    arms: dict[str, Once[str]]

    @model_validator(mode="after")
    def _ranges_exist(self) -> "Search":
        for arm, names in self.arms.items():
            for name in names:
                if name not in self.ranges:
                    raise ValueError(f"arms.{arm}: {name!r} has no range; known: {', '.join(self.ranges)}")
        return self
