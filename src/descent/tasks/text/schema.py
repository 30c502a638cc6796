"""The sections of params.yaml about text classification."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from descent.schema import (
    BudgetSection,
    Checksum,
    Count,
    Evaluation,
    Grid,
    Hub,
    NonNegative,
    OneOf,
    Place,
    Schema,
    Seed,
    TokenizerSource,
)
from descent.training.schema import Search


class HubData(Hub):
    configuration: str | None = None


class GenerateTexts(Schema):
    seed: Seed
    train_texts: Count
    test_texts: Count


class Source(OneOf):
    """Where one data set comes from: exactly one of generate, path, url (with sha256), hub."""

    generate: GenerateTexts | None = None
    path: Place | None = None
    url: Place | None = None
    sha256: Checksum | None = None
    hub: HubData | None = None
    train_texts: Count | None = None
    test_texts: Count | None = None
    test_skip: Annotated[int, Field(ge=0)] = 0  # the test texts that a draw of so many takes are left out

    @classmethod
    def choices(cls) -> tuple[str, ...]:
        """What names the source."""
        return "generate", "path", "url", "hub"

    @model_validator(mode="after")
    def _checked(self) -> "Source":
        if (self.url is None) != (self.sha256 is None):
            raise ValueError("url and sha256 belong together")
        return self


class Text(Schema):
    eps: NonNegative
    datasets: list[str]
    models: list[str]
    validation_share: Annotated[float, Field(gt=0, lt=0.5)]
    tolerance: NonNegative
    selection: Literal["feasible", "best", "final"]
    length_pool: Count
    validation_batch: Count
    search: Search
    evaluation: Evaluation


class Grids(Schema):
    """What a profile gives text: the grid, and each model's budget in place of or beside the common one."""

    max_tokens: Annotated[Count, Field(ge=4)]
    eps: list[NonNegative]
    seeds: Grid[Seed]
    shifts: Grid[str] | None = None  # in place of those of the evaluation
    batch: Count
    epochs: Count
    tokenizers: dict[str, TokenizerSource]
    models: dict[str, BudgetSection]
