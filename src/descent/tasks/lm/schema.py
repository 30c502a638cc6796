"""The sections of params.yaml about the causal language model."""

from typing import Annotated, Literal

from pydantic import Field

from descent.schema import (
    Count,
    Evaluation,
    Grid,
    Hub,
    NonNegative,
    OneOf,
    Place,
    Schema,
    Seed,
    TaskGrids,
    TaskSection,
    TokenizerSource,
)
from descent.training.schema import Optimizer

All = Literal["all"]
Style = Literal["alpaca", "plain"]  # of the words around an instruction


class GenerateInstructions(Schema):
    seed: Seed
    instructions: Count


class Source(OneOf):
    """Where instructions come from: exactly one of generate, path, hub; and the prompts to complete.

    Without `prompts` those of the test instructions, or of a file of prompts beside a `path`, are completed.
    """

    CHOICES = ("generate", "path", "hub")

    generate: GenerateInstructions | None = None
    path: Place | None = None
    hub: Hub | None = None
    prompts: Hub | None = None
    instructions: Count | None = None


class Completions(Schema):
    gammas: Grid[NonNegative]
    prompts: Count
    max_tokens: Count
    batch: Count


class Judge(Schema):
    """The judge of completions: the package alpaca_eval, with a key from the environment variable `key`."""

    annotators: str
    key: str


class LanguageModel(TaskSection):
    eps: NonNegative
    validation_share: Annotated[float, Field(gt=0, lt=0.4)]
    test_share: Annotated[float, Field(gt=0, lt=0.4)]
    length_pool: Count
    validation_batch: Count
    optimizer: Optimizer
    readout_layers: Count | All
    readout_tokens: Count | All
    logits_at_once: Count
    evaluation: Evaluation
    completions: Completions
    judge: Judge


class Grids(TaskGrids):
    """What a profile gives the language model."""

    prompt: Style
    max_tokens: Annotated[Count, Field(ge=8)]
    tokenizers: dict[str, TokenizerSource]
