"""What a model must know of its task's data to be built, and where pretrained weights come from."""

from dataclasses import dataclass

from descent.schema import Hub, OneOf


@dataclass(frozen=True)
class VideoInputs:
    """Square patches of `patch` x `patch` pixels."""

    patch: int
    local_data: str


@dataclass(frozen=True)
class TextInputs:
    """Texts in the tokens of one tokenizer."""

    name: str
    tokenizer: str
    vocabulary: int
    pad: int
    classes: int
    max_tokens: int
    local_data: str


@dataclass(frozen=True)
class LMInputs:
    """Instructions in the tokens of one tokenizer; without `begin` a text starts with its first word."""

    vocabulary: int
    begin: int | None
    end: int
    max_tokens: int
    local_data: str


class Pretrained(OneOf):
    """Where weights come from: a local folder or a repository of the hub; subclasses add `random` ones."""

    path: str | None = None
    hub: Hub | None = None
