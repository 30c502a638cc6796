"""What every section of params.yaml is built from, and the kinds of source that several tasks share."""

import json
import re
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypedDict

from descent.components import names
from descent.errors import UserError

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
SEEDS = 2**32 - 7  # the largest seed: beyond it begin the keys of other streams (training.noise, tasks.video.data)
Seed = Annotated[int, Field(ge=0, le=SEEDS)]
Share = Annotated[float, Field(ge=0, lt=1)]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Place = Annotated[str, Field(pattern=r"^[^\x00]+$")]  # a path, an address, a repository
Item = TypeVar("Item")


def _once(values: list[Item]) -> list[Item]:
    twice = [value for number, value in enumerate(values) if value in values[:number]]
    if twice:
        raise ValueError(f"a value stands there twice: {twice[0]}")
    return values


Once = Annotated[list[Item], AfterValidator(_once)]
Grid = Annotated[list[Item], Field(min_length=1), AfterValidator(_once)]


def _device(word: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", word):
        raise ValueError("auto, cpu, cuda, or one GPU by its number: cuda:1")
    return word


def _optimizer(word: str) -> str:
    if word not in (known := names("training.optimizers")):
        raise ValueError(f"one of {', '.join(known)}")
    return word


OptimizerName = Annotated[str, AfterValidator(_optimizer)]
Precision = Literal["float32", "tf32", "bf16"]
Device = Annotated[str, AfterValidator(_device)]


class Schema(BaseModel):
    """Immutable, no unknown key, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Values = dict[str, Any]


class ObjectiveSection(TypedDict, total=False):
    """An arm's values of the objective, and the sections in it that replace them: of models, of data sets."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)
    like: str
    models: dict[str, Values]
    datasets: dict[str, dict[str, Values]]


class ModelSection(TypedDict, total=False):
    """A model's settings, and in it what the cells of single arms have in their place."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)
    tokenizer: str
    arms: dict[str, Values]


class StudySection(TypedDict, total=False):
    """A study's values, or those that it has in place of another's; descent.study has their schema."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)
    like: str


class BudgetSection(TypedDict, total=False):
    """A model's budget in a profile; the model's own schema holds the rest of it."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)
    layers: Grid[Count]
    epochs: Count
    parts: Count
    arms: dict[str, Values]


class OneOf(Schema):
    """Of the fields that a subclass names in `CHOICES`, or of all where it names none, exactly one is given."""

    CHOICES: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _exactly_one(self) -> "OneOf":
        choices = self.CHOICES or tuple(type(self).model_fields)
        if sum(getattr(self, choice) is not None for choice in choices) != 1:
            raise ValueError(f"name exactly one of {', '.join(choices)}")
        return self


class Downloaded(OneOf):
    """Of a data set that may be fetched from an address: a download is checked, and nothing else is."""

    url: Place | None = None
    sha256: Checksum | None = None

    @model_validator(mode="after")
    def _checked(self) -> "Downloaded":
        if self.url is not None and self.sha256 is None:
            raise ValueError("a url needs its sha256")
        if self.url is None and self.sha256 is not None:
            raise ValueError("sha256 belongs to a url; nothing else is checked against it")
        return self


class Hub(Schema):
    """A repository of the Hugging Face hub; without a revision its newest state, which may be another next time:
    a finished cell is known by what is written here."""

    id: Place
    revision: str | None = None


class TrainTokenizer(Schema):
    """A vocabulary made from the data set's own training texts."""

    kind: Annotated[str, Field(pattern="^(wordpiece|bpe)$")]
    vocabulary: Annotated[int, Field(ge=300, le=10_000_000)]  # byte-level BPE begins with 256 symbols


class TokenizerSource(OneOf):
    """Where a tokenizer comes from."""

    train: TrainTokenizer | None = None
    path: Place | None = None
    hub: Hub | None = None


class Budget(Schema):
    """What a profile gives the cells of one model, of its task's values and its own.

    `arms` replaces values of the objectives of single arms, and their `lr`.
    """

    layers: Grid[Count]
    batch: Count
    epochs: Count
    lr: Positive
    arms: dict[str, dict[str, Any]] = {}


class VideoBudget(Budget):
    """Of a video model; an input is a sequence of patches or a frame."""

    clips: Literal["official", "drawn"]  # of training and validation: the data set's own, or drawn by the seed
    tokens: Annotated[int, Field(ge=2)]
    epoch_inputs: Count | None
    validation_inputs: Count
    test_inputs: Count | None
    optimizer: OptimizerName = "adam"  # of the weights; budgets published before there were two have none


class TextBudget(Budget):
    """Of a model of texts, whose `epochs` are passes over all of them.

    With `parts` a pass is cut in so many epochs (loop.Course): the same steps, looked at more often. Warm-ups,
    histories, reported epochs and all else that an arm does by the epoch then count parts.
    """

    parts: Count = 1


class TaskSection(Schema):
    """What every task has in params.yaml."""

    datasets: list[str]
    models: list[str]
    tolerance: NonNegative
    selection: Literal["feasible", "best", "final"]


class TaskGrids(Schema):
    """What a profile gives a task: the grid, and each model's budget in place of or beside the common one."""

    eps: list[NonNegative]
    seeds: Grid[Seed]
    shifts: Grid[str] | None = None  # in place of those of the evaluation
    batch: Count
    epochs: Count
    models: dict[str, BudgetSection]


class Evaluation(Schema):
    """The sweep over test noise."""

    gammas: Grid[NonNegative]
    energies: Grid[Positive]  # gammas whose energy other shifts have
    shifts: Grid[str]
    noise_draws: Count
    seed: Seed
    batch: Count
    precision: Precision | None = None  # null: that of training
    bootstrap: Count  # resamples of the test items

    @property
    def span(self) -> float:
        """From the lowest gamma to the highest: what an area under a curve is of."""
        return max(self.gammas) - min(self.gammas)


class Shift(Schema):
    """A shift's settings hold the levels at which it is applied.

    Null, where the level is an energy: those of the task's evaluation (of the noise of training its gammas).
    """

    levels: Grid[NonNegative] | None


class Shares(Shift):
    """Levels that are shares of what a shift may hit, 0 to 1."""

    levels: Grid[Annotated[float, Field(ge=0, le=1)]]


Checked = TypeVar("Checked", bound=BaseModel)


def validated(schema: type[Checked], values: Any, where: str) -> Checked:
    """The values of a section as its owner's schema.

    Raises:
        UserError: an unknown or missing key or a wrong type, a line each, beginning with the key's path.
    """
    try:
        # JSON: strict mode then reads YAML's own types.
        return schema.model_validate_json(json.dumps(values, default=str))
    except ValidationError as error:
        lines = [_line(detail) for detail in error.errors()]
        raise UserError(f"{where} is not right:\n" + "\n".join(lines)) from None


def _line(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    known = {"extra_forbidden": "unknown key", "missing": "missing key"}.get(detail["type"])
    said = known or detail["msg"].removeprefix("Value error, ")
    given = "" if known or isinstance(detail["input"], dict | list) else f", not {detail['input']!r}"
    return f"  {place}: {said}{given}" if place else f"  {said}{given}"
