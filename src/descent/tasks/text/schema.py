"""The sections of params.yaml about text classification."""

from typing import Annotated

from pydantic import Field

from descent.schema import (
    Count,
    Downloaded,
    Evaluation,
    Hub,
    NonNegative,
    Place,
    Schema,
    Seed,
    TaskGrids,
    TaskSection,
    TokenizerSource,
)
from descent.training.schema import Search


class HubData(Hub):
    configuration: str | None = None


class GenerateTexts(Schema):
    seed: Seed
    train_texts: Count
    test_texts: Count


class Source(Downloaded):
    """Where one data set comes from: exactly one of generate, path, url (with sha256), hub."""

    CHOICES = ("generate", "path", "url", "hub")

    generate: GenerateTexts | None = None
    path: Place | None = None
    hub: HubData | None = None
    train_texts: Count | None = None
    test_texts: Count | None = None
    test_skip: Annotated[int, Field(ge=0)] = 0  # the test texts that a draw of so many takes are left out


class Text(TaskSection):
    eps: NonNegative
    validation_share: Annotated[float, Field(gt=0, lt=0.5)]
    length_pool: Count
    validation_batch: Count
    search: Search
    evaluation: Evaluation


class Grids(TaskGrids):
    """What a profile gives text."""

    max_tokens: Annotated[Count, Field(ge=4)]
    tokenizers: dict[str, TokenizerSource]
