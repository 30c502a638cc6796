"""The sections of params.yaml about text classification."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from descent.schema import (
    Checksum,
    Count,
    Evaluation,
    Grid,
    LearningRates,
    Method,
    NonNegative,
    Positive,
    Schema,
    Seed,
    Share,
)

TokenizerName = Literal["bert", "roberta"]


def _exactly_one(**choices: object) -> None:
    if sum(choice is not None for choice in choices.values()) != 1:
        raise ValueError(f"name exactly one of {', '.join(choices)}")


class Hub(Schema):
    """A repository of the Hugging Face hub; without a revision its newest state."""

    id: str
    revision: str | None = None


class HubData(Hub):
    configuration: str | None = None


class GenerateTexts(Schema):
    seed: Seed
    train_texts: Count
    test_texts: Count


class TextSource(Schema):
    """Where one data set comes from: exactly one of generate, path, url (with sha256), hub."""

    generate: GenerateTexts | None = None
    path: str | None = None
    url: str | None = None
    sha256: Checksum | None = None
    hub: HubData | None = None
    train_texts: Count | None = None
    test_texts: Count | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "TextSource":
        _exactly_one(generate=self.generate, path=self.path, url=self.url, hub=self.hub)
        if (self.url is None) != (self.sha256 is None):
            raise ValueError("url and sha256 belong together")
        return self


class TrainTokenizer(Schema):
    """A vocabulary made from the data set's own training texts."""

    kind: Literal["wordpiece", "bpe"]
    vocabulary: Annotated[int, Field(ge=300)]  # byte-level BPE begins with 256 symbols


class TokenizerSource(Schema):
    """Where a tokenizer comes from: exactly one of train, path, hub."""

    train: TrainTokenizer | None = None
    path: str | None = None
    hub: Hub | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "TokenizerSource":
        _exactly_one(train=self.train, path=self.path, hub=self.hub)
        return self


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
    """What the trials of an arm vary; the first trial is always the value in use."""

    dual_lr: Range
    rho: Range
    lr: Range
    unconstrained: Literal["seeds", "lr"]
    startup_trials: Count
    seed: Seed


class Text(Schema):
    eps: NonNegative
    datasets: Grid[str]
    models: Grid[str]
    methods: Grid[Method]
    tokenizers: Grid[TokenizerName]
    validation_share: Annotated[float, Field(gt=0, lt=0.5)]
    tolerance: NonNegative
    report: Literal["feasible", "best", "final"]
    length_pool: Count
    validation_batch: Count
    search: Search
    evaluation: Evaluation
    per_dataset: dict[str, dict[str, dict[str, Any]]]


class Ablation(Schema):
    """The setting in which alpha, the dual rate and the relaxation are varied (Figures 5, 12, 14, 15)."""

    dataset: str
    model: str
    eps: NonNegative


class UTText(Schema):
    tokenizer: TokenizerName
    embeddings: Literal["frozen", "trained"]
    embedding_std: Positive
    residual: bool
    exact_beta: bool
    decouple: bool


class Encoder(Schema):
    tokenizer: TokenizerName


class Size(Schema):
    """An encoder with random weights."""

    width: Count
    heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole_heads(self) -> "Size":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self


class Weights(Schema):
    """Where an encoder comes from: exactly one of random, path (a local folder), hub."""

    random: Size | None = None
    path: str | None = None
    hub: Hub | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Weights":
        _exactly_one(random=self.random, path=self.path, hub=self.hub)
        return self


class Embeddings(Schema):
    """Where UT's word embeddings come from: exactly one of width (random), path, hub (an encoder's)."""

    width: Count | None = None
    path: str | None = None
    hub: Hub | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Embeddings":
        _exactly_one(width=self.width, path=self.path, hub=self.hub)
        return self


class UTTextBudget(LearningRates):
    layers: Grid[Count]
    embeddings: Embeddings
    batch: Count
    epochs: Count


class EncoderBudget(LearningRates):
    layers: Count  # a pretrained encoder must have as many
    weights: Weights
    dropout: Share
    batch: Count
    epochs: Count


class TextBudget(Schema):
    max_tokens: Annotated[int, Field(ge=4)]
    eps: Grid[NonNegative]
    trials: Count
    tokenizers: dict[TokenizerName, TokenizerSource]
    ut_text: UTTextBudget
    distilbert: EncoderBudget
    roberta: EncoderBudget


class AblationBudget(Schema):
    """The values tried, and the seeds 0 ... seeds - 1 of each."""

    alpha: Grid[Share]
    dual_lr: Grid[Positive]
    seeds: Count
