"""The sections of params.yaml about video."""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from descent.schema import Checksum, Count, Grid, LearningRates, Method, NonNegative, Positive, Schema, Seed, Share
from descent.tasks.text.schema import Weights


def _square(number: int) -> int:
    if number < 1 or math.isqrt(number) ** 2 != number:
        raise ValueError("a separable DCT dictionary needs a square number of atoms, such as 256, 576 or 1024")
    return number


class Frame(Schema):
    size: Count
    patch: Count
    split: Literal["official", "training_only"]

    @model_validator(mode="after")
    def _whole_patches(self) -> "Frame":
        if self.size % self.patch:
            raise ValueError(f"size {self.size} is not a multiple of patch {self.patch}")
        return self


class Video(Schema):
    datasets: Grid[str]
    models: Grid[str]
    methods: Grid[Method]
    frame: Frame
    noise_scale: Literal["dataset"] | Positive
    patch_loss: Literal["sum", "mean"]
    tolerance: NonNegative
    report: Literal["feasible", "best", "final"]


class UT(Schema):
    reading: Literal["codes", "pixels"]
    step_scale: Positive
    feedforward_gain: NonNegative
    residual: bool
    exact_beta: bool
    decouple: bool


class Dictionaries(Schema):
    constrained: Literal["shared", "per_layer"]
    unconstrained: Literal["shared", "per_layer"]


class DUST(Schema):
    dictionaries: Dictionaries
    attention: Literal["dictionary", "dct"]
    step_scale: Positive
    threshold: NonNegative
    kappa: Annotated[float, Field(ge=0, le=1)]


class ViT(Schema):
    antialias: bool


class Infeasible(Schema):
    dataset: str
    model: str
    layers: Count
    eps: NonNegative
    seed: Seed
    primal_dual: dict[str, Any]


class Generate(Schema):
    seed: Seed
    train_clips: Count
    test_clips: Count
    frames: Count


class Source(Schema):
    """Where one data set comes from: exactly one of generate, path, url (with sha256)."""

    generate: Generate | None = None
    path: str | None = None
    url: str | None = None
    sha256: Checksum | None = None
    part: str | None = None
    train_clips: Count | None = None
    test_clips: Count | None = None
    frames_per_clip: Count | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Source":
        if sum(kind is not None for kind in (self.generate, self.path, self.url)) != 1:
            raise ValueError("name exactly one of generate, path, url")
        if self.url is not None and self.sha256 is None:
            raise ValueError("a url needs its sha256")
        if self.url is None and self.sha256 is not None:
            raise ValueError("sha256 belongs to a url; nothing else is checked against it")
        return self


class ViTSize(Schema):
    """A ViT with random weights."""

    image: Count
    patch: Count
    width: Count
    heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole(self) -> "ViTSize":
        if self.image % self.patch:
            raise ValueError(f"image {self.image} is not a multiple of patch {self.patch}")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self


class ViTWeights(Weights):
    """Where a ViT comes from: exactly one of random, path (a local folder), hub."""

    random: ViTSize | None = None


class ViTBudget(LearningRates):
    layers: Count  # a pretrained model must have as many
    weights: ViTWeights
    dropout: Share
    batch: Count  # frames
    epochs: Count
    epoch_frames: Count | None
    validation_frames: Count
    test_frames: Count | None


class VideoBudget(Schema):
    layers: Grid[Count]
    eps: Grid[NonNegative]
    seeds: Grid[Seed]
    tokens: Annotated[int, Field(ge=2)]
    batch: Count
    epochs: Count
    epoch_sequences: Count | None
    validation_sequences: Count
    test_sequences: Count | None
    atoms: Annotated[int, AfterValidator(_square)]
    ut: LearningRates
    dust: LearningRates
    vit: ViTBudget

    def of(self, model: str) -> "VideoBudget | ViTBudget":
        """What holds a model's batch and epochs: its own section, or this one for all that see patches."""
        own = getattr(self, model)
        return own if isinstance(own, ViTBudget) else self
