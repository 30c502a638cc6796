"""The sections of params.yaml about video."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from descent.schema import (
    Count,
    Downloaded,
    Evaluation,
    Grid,
    NonNegative,
    Place,
    Positive,
    Schema,
    Seed,
    TaskGrids,
    TaskSection,
)

PatchLoss = Literal["sum", "mean"]  # of a squared error over the pixels of a patch


class Frame(Schema):
    size: Annotated[Count, Field(le=4096)]
    patch: Count
    split: Literal["official", "training_only"]

    @model_validator(mode="after")
    def _whole_patches(self) -> "Frame":
        if self.size % self.patch:
            raise ValueError(f"size {self.size} is not a multiple of patch {self.patch}")
        return self


class VideoEvaluation(Evaluation):
    classical_frames: Count
    transfer: list[NonNegative]  # gammas on the other data sets, beside each cell's training level

    @model_validator(mode="after")
    def _beside_its_own(self) -> "VideoEvaluation":
        if others := set(self.transfer) - set(self.gammas):
            raise ValueError(f"transfer: {min(others):g} is none of gammas, so nothing would stand beside it")
        return self


class Video(TaskSection):
    frame: Frame
    noise_scale: Literal["dataset"] | Positive
    patch_loss: PatchLoss
    evaluation: VideoEvaluation


class Generate(Schema):
    seed: Seed
    train_clips: Count
    test_clips: Count
    frames: Count


class Source(Downloaded):
    """Where one data set comes from: exactly one of generate, path, url (with sha256)."""

    CHOICES = ("generate", "path", "url")

    generate: Generate | None = None
    path: Place | None = None
    part: str | None = None
    train_clips: Count | None = None
    test_clips: Count | None = None
    frames_per_clip: Count | None = None


class Grids(TaskGrids):
    """What a profile gives video."""

    layers: Grid[Count]
    clips: Literal["official", "drawn"]
    tokens: Count
    epoch_inputs: Count | None
    validation_inputs: Count
    test_inputs: Count | None
