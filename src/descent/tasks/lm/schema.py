"""The sections of params.yaml about the causal language model."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from descent.schema import (
    Count,
    Evaluation,
    Grid,
    LearningRates,
    Method,
    NonNegative,
    Optimizer,
    Positive,
    Schema,
    Seed,
    Share,
)
from descent.tasks.text.schema import Hub, TokenizerSource

All = Literal["all"]


class GenerateInstructions(Schema):
    seed: Seed
    instructions: Count


class InstructionSource(Schema):
    """Where instructions come from: exactly one of generate, path, hub; and the prompts to complete.

    Without `prompts` those of the test instructions, or of an alpaca_eval file beside a `path`, are completed.
    """

    generate: GenerateInstructions | None = None
    path: str | None = None
    hub: Hub | None = None
    prompts: Hub | None = None
    instructions: Count | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "InstructionSource":
        if sum(choice is not None for choice in (self.generate, self.path, self.hub)) != 1:
            raise ValueError("name exactly one of generate, path, hub")
        return self


class Completions(Schema):
    gammas: Grid[NonNegative]
    prompts: Count
    max_tokens: Count
    batch: Count


class Judge(Schema):
    """The judge of completions: the package alpaca_eval, with a key from the environment variable `key`."""

    annotators: str
    key: str


class LanguageModel(Schema):
    eps: NonNegative
    methods: Grid[Method]
    seeds: Grid[Seed]
    validation_share: Annotated[float, Field(gt=0, lt=0.4)]
    test_share: Annotated[float, Field(gt=0, lt=0.4)]
    tolerance: NonNegative
    report: Literal["feasible", "best", "final"]
    length_pool: Count
    validation_batch: Count
    optimizer: Optimizer
    readout_layers: Count | All
    readout_tokens: Count | All
    logits_at_once: Count
    evaluation: Evaluation
    completions: Completions
    judge: Judge


class LlamaSize(Schema):
    """A Llama with random weights."""

    width: Count
    heads: Count
    key_value_heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole_heads(self) -> "LlamaSize":
        if self.width % (2 * self.heads) or self.heads % self.key_value_heads:
            raise ValueError(
                f"width {self.width} must be an even multiple of heads {self.heads} (rotary positions "
                f"turn pairs of "
                f"numbers), and heads one of key_value_heads {self.key_value_heads}"
            )
        return self


class LlamaWeights(Schema):
    """Where the model comes from: exactly one of random, path (a local folder), hub."""

    random: LlamaSize | None = None
    path: str | None = None
    hub: Hub | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "LlamaWeights":
        if sum(choice is not None for choice in (self.random, self.path, self.hub)) != 1:
            raise ValueError("name exactly one of random, path, hub")
        return self


class LoRA(Schema):
    """Low-rank adapters on all linear layers but the readout."""

    rank: Count
    scale: Positive
    dropout: Share


class LanguageModelBudget(LearningRates):
    data: InstructionSource
    prompt: Literal["alpaca", "plain"]
    max_tokens: Annotated[int, Field(ge=8)]
    tokenizer: TokenizerSource
    layers: Count  # a pretrained model must have as many
    weights: LlamaWeights
    lora: LoRA | None  # null: every weight trains
    primal_dual: dict[str, Any]
    batch: Count
    epochs: Count

    @model_validator(mode="after")
    def _own_tokens(self) -> "LanguageModelBudget":
        if self.tokenizer.train is not None:
            if self.tokenizer.train.kind != "bpe":
                raise ValueError(
                    "tokenizer.train.kind must be bpe: of wordpiece tokens no text can be written again"
                )
            if self.weights.random is None:
                raise ValueError(
                    "a pretrained model knows the tokens of its own tokenizer, not those of one "
                    "trained here: name "
                    "its tokenizer's `path` or `hub`, or `random` weights"
                )
        return self
