"""params.yaml as frozen, strict objects: an unknown key, a wrong type or a missing key names its path."""

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML, YAMLError  # YAML 1.2, as DVC reads it: 1e-3 is a number

from descent.errors import UserError

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Method = Literal["constrained", "unconstrained"]
Item = TypeVar("Item")
Grid = Annotated[list[Item], Field(min_length=1)]


def _square(number: int) -> int:
    if number < 1 or math.isqrt(number) ** 2 != number:
        raise ValueError("a separable DCT dictionary needs a square number of atoms, such as 256, 576 or 1024")
    return number


class Schema(BaseModel):
    """Immutable, no unknown key, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


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


class Models(Schema):
    ut: UT
    dust: DUST


class PrimalDual(Schema):
    """The constrained problem of one model (METHOD 1); alpha, R0 and rho are the paper's symbols."""

    alpha: Share
    R0: Positive
    cap_layer: Literal[0, 1]
    constraint: Literal["difference", "ratio"]
    through_previous: bool
    resilience: Literal["slacks", "decay", "none"]
    rho: Positive
    restart: bool
    reset_moments: bool
    slack_optimizer: Literal["adam", "sgd"]
    slack_lr: Positive
    dual_optimizer: Literal["adam", "sgd"]
    dual_every: Count
    dual_forward: Literal["same", "fresh"]
    warmup_epochs: Annotated[int, Field(ge=0)]


class PrimalDuals(Schema):
    ut: PrimalDual
    dust: PrimalDual


class StackElements(Schema):
    cpu: Count
    cuda: Count


class Training(Schema):
    schedule: Literal["constant", "cosine"]
    betas: Annotated[list[Share], Field(min_length=2, max_length=2)]
    clip_norm: Positive
    diverged_above: Positive
    checkpoint_seconds: NonNegative
    precision: Literal["float32", "tf32", "bf16"]
    compile: bool
    stack_elements: StackElements


class Evaluation(Schema):
    gammas: Grid[NonNegative]
    noise_draws: Count
    seed: Seed
    batch: Count


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
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
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


class LearningRates(Schema):
    lr: Positive
    dual_lr: Positive


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


class Profile(Schema):
    data: dict[str, Source]
    video: VideoBudget


class Params(Schema):
    profile: str
    eps: NonNegative
    method: Method
    device: Literal["auto", "cpu", "cuda"]
    local_data: str
    video: Video
    models: Models
    primal_dual: PrimalDuals
    training: Training
    evaluation: Evaluation
    infeasible: Infeasible
    profiles: dict[str, Profile]

    @model_validator(mode="after")
    def _names_exist(self) -> "Params":
        _known("profile", [self.profile], self.profiles)
        _known("video.models", self.video.models, Models.model_fields)
        _known("infeasible.model", [self.infeasible.model], Models.model_fields)
        _known("infeasible.primal_dual", self.infeasible.primal_dual, PrimalDual.model_fields)
        for model in self.video.models:
            if self.constraints(model).warmup_epochs >= self.budget.video.epochs:
                raise ValueError(
                    f"primal_dual.{model}.warmup_epochs leaves none of the profile's epochs to the duals"
                )
        _known("video.datasets", self.video.datasets, self.profiles[self.profile].data)
        _known("infeasible.dataset (one of video.datasets)", [self.infeasible.dataset], self.video.datasets)
        return self

    @property
    def budget(self) -> Profile:
        """The data sources, grids and budgets of the profile in use."""
        return self.profiles[self.profile]

    def constraints(self, model: str, overrides: dict[str, Any] | None = None) -> PrimalDual:
        """primal_dual.<model>, with some values replaced by an experiment's own section."""
        values = getattr(self.primal_dual, model).model_dump() | (overrides or {})
        return _validate(PrimalDual, values, "infeasible.primal_dual" if overrides else f"primal_dual.{model}")


def _known(where: str, names: Any, choices: Any) -> None:
    for name in names:
        if name not in choices:
            raise ValueError(f"{where}: unknown name {name!r}; known: {', '.join(choices)}")


def _validate(schema: type[BaseModel], values: Any, where: str) -> Any:
    try:
        return schema.model_validate_json(
            json.dumps(values, default=str)
        )  # JSON: strict mode then reads YAML's own types
    except ValidationError as error:
        lines = [_line(detail) for detail in error.errors()]
        raise UserError(f"{where} is not right:\n" + "\n".join(lines)) from None


def _line(detail: Any) -> str:
    """One of pydantic's findings as a line that begins with the path of the key."""
    place = ".".join(str(part) for part in detail["loc"])
    known = {"extra_forbidden": "unknown key", "missing": "missing key"}.get(detail["type"])
    said = known or detail["msg"].removeprefix("Value error, ")
    given = "" if known or isinstance(detail["input"], dict | list) else f", not {detail['input']!r}"
    return f"  {place}: {said}{given}" if place else f"  {said}{given}"


def load(path: Path = Path("params.yaml")) -> Params:
    """Read and check the whole file.

    Raises:
        UserError: missing or unreadable file, unknown key, wrong type, missing key, unknown name.
    """
    try:
        values = YAML(typ="safe").load(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; run from the project's root") from None
    except YAMLError as error:
        raise UserError(f"{path} is not YAML: {error}") from None
    params = _validate(Params, values, str(path))
    params.constraints(params.infeasible.model, params.infeasible.primal_dual)
    return params
