"""The sections of params.yaml about video."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from descent.schema import (
    BudgetSection,
    Checksum,
    Count,
    Evaluation,
    Grid,
    NonNegative,
    OneOf,
    Place,
    Positive,
    Schema,
    Seed,
)


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


class Video(Schema):
    datasets: list[str]
    models: list[str]
    frame: Frame
    noise_scale: Literal["dataset"] | Positive
    patch_loss: Literal["sum", "mean"]
    tolerance: NonNegative
    selection: Literal["feasible", "best", "final"]
    evaluation: VideoEvaluation


class Generate(Schema):
    seed: Seed
    train_clips: Count
    test_clips: Count
    frames: Count


class Source(OneOf):
    """Where one data set comes from: exactly one of generate, path, url (with sha256)."""

    generate: Generate | None = None
    path: Place | None = None
    url: Place | None = None
    sha256: Checksum | None = None
    part: str | None = None
    train_clips: Count | None = None
    test_clips: Count | None = None
    frames_per_clip: Count | None = None

    @classmethod
    def choices(cls) -> tuple[str, ...]:
        """What names the source."""
        return "generate", "path", "url"

    @model_validator(mode="after")
    def _checked(self) -> "Source":
        if self.url is not None and self.sha256 is None:
            raise ValueError("a url needs its sha256")
        if self.url is None and self.sha256 is not None:
            raise ValueError("sha256 belongs to a url; nothing else is checked against it")
        return self


class Grids(Schema):
    """What a profile gives video: the grid, and each model's budget in place of or beside the common one."""

    layers: Grid[Count]
    eps: list[NonNegative]
    seeds: Grid[Seed]
    shifts: Grid[str] | None = None  # in place of those of the evaluation
    clips: Literal["official", "drawn"]
    tokens: Count
    batch: Count
    epochs: Count
    epoch_inputs: Count | None
    validation_inputs: Count
    test_inputs: Count | None
    models: dict[str, BudgetSection]
