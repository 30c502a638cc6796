"""UT for video, the unrolled transformer of eq. (45)-(48), in two readings: tokens as codes, or as pixels."""

from collections.abc import Sequence
from typing import Annotated, Literal

import torch
from pydantic import AfterValidator, model_validator

from descent.models.dust import DUST
from descent.models.parts.inputs import VideoInputs
from descent.models.parts.layers import dct, square
from descent.models.parts.unrolled import UT
from descent.schema import NonNegative, Positive, Schema, VideoBudget

LABEL = "UT"
TASK = "video"
INPUTS = "patches"
TIED = {"decouple": False}  # settings under which all layers are one map


class Settings(Schema):
    """Of the reading `codes` step_scale, step (as DUST's) and decouple count, of `pixels` all but the two."""

    reading: Literal["codes", "pixels"]
    step_scale: Positive
    step: Literal["initial", "current"] = "initial"  # which runs published before there was another do not hold
    feedforward_gain: NonNegative
    residual: bool
    exact_beta: bool
    decouple: bool

    @model_validator(mode="after")
    def _has_steps(self) -> "Settings":
        if self.reading == "pixels" and self.step == "current":
            raise ValueError("step: current is of the reading codes; of pixels no step has a length")
        return self


class Budget(VideoBudget):
    """Beside what every video model has, the atoms N of the reading `codes`."""

    atoms: Annotated[int, AfterValidator(square)]


def build(settings: Settings, budget: Budget, inputs: VideoInputs, layers: int, seeds: Sequence[int]) -> UT | DUST:
    """A stack of cells of one depth; the reading `codes` is DUST with ReLU for the soft threshold."""
    pixels = inputs.patch**2
    if settings.reading == "codes":
        return DUST(
            cells=len(seeds),
            layers=layers,
            dictionary=dct(pixels, budget.atoms),
            shared=not settings.decouple,
            shrink=torch.relu,
            step_scale=settings.step_scale,
            current=settings.step == "current",
        )
    return UT(
        cells=len(seeds),
        layers=layers,
        width=pixels,
        gain=settings.feedforward_gain,
        residual=settings.residual,
        exact_beta=settings.exact_beta,
        decouple=settings.decouple,
        seeds=seeds,
    )


def width(settings: Settings, budget: Budget, inputs: VideoInputs) -> int:
    """Numbers per token in one state: what a stack's size is counted in."""
    return budget.atoms if settings.reading == "codes" else inputs.patch**2
