"""params.yaml as frozen, strict objects: an unknown key, a wrong type or a missing key names its path."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError, model_validator
from ruamel.yaml import YAML, YAMLError  # YAML 1.2, as DVC reads it: 1e-3 is a number

from descent.errors import UserError
from descent.schema import Evaluation, Method, NonNegative, PrimalDual, Schema, Training
from descent.tasks.lm.schema import LanguageModel, LanguageModelBudget
from descent.tasks.text.schema import Ablation, AblationBudget, Encoder, Text, TextBudget, TextSource, UTText
from descent.tasks.video.schema import DUST, UT, Infeasible, Source, Video, VideoBudget, ViT

OF_RESULTS = Path("data/params.json")  # the parameters that the results were made with
PATCH_MODELS = ("ut", "dust")  # see sequences of patches, and have the depths of profiles.<profile>.video.layers
VIDEO_MODELS = (*PATCH_MODELS, "vit")
TEXT_MODELS = ("ut_text", "distilbert", "roberta")


class Models(Schema):
    ut: UT
    dust: DUST
    vit: ViT
    ut_text: UTText
    distilbert: Encoder
    roberta: Encoder


class PrimalDuals(Schema):
    ut: PrimalDual
    dust: PrimalDual
    vit: PrimalDual
    ut_text: PrimalDual
    distilbert: PrimalDual
    roberta: PrimalDual
    causal_lm: PrimalDual


class Profile(Schema):
    data: dict[str, Source]
    video: VideoBudget
    texts: dict[str, TextSource]
    text: TextBudget
    ablation: AblationBudget
    lm: LanguageModelBudget


class Params(Schema):
    profile: str
    eps: NonNegative
    method: Method
    device: Literal["auto", "cpu", "cuda"]
    local_data: str
    video: Video
    text: Text
    lm: LanguageModel
    models: Models
    primal_dual: PrimalDuals
    training: Training
    evaluation: Evaluation
    infeasible: Infeasible
    ablation: Ablation
    profiles: dict[str, Profile]

    @model_validator(mode="after")
    def _names_exist(self) -> "Params":
        _known("profile", [self.profile], self.profiles)
        budget = self.budget
        _known("video.models", self.video.models, VIDEO_MODELS)
        _known("video.datasets", self.video.datasets, budget.data)
        _known("infeasible.model", [self.infeasible.model], PATCH_MODELS)
        _known("infeasible.dataset (one of video.datasets)", [self.infeasible.dataset], self.video.datasets)
        _known("text.models", self.text.models, TEXT_MODELS)
        _known("text.datasets", self.text.datasets, budget.texts)
        _known("ablation.model", [self.ablation.model], TEXT_MODELS)
        _known("ablation.dataset (one of text.datasets)", [self.ablation.dataset], self.text.datasets)
        text_models = {*self.text.models, self.ablation.model}
        tokenizers = {model: getattr(self.models, model).tokenizer for model in text_models}
        _known("models.<model>.tokenizer (one of text.tokenizers)", tokenizers.values(), self.text.tokenizers)
        _known("profiles.<profile>.text.tokenizers", self.text.tokenizers, budget.text.tokenizers)
        _known("text.per_dataset", self.text.per_dataset, budget.texts)
        for models in self.text.per_dataset.values():
            _known("text.per_dataset.<dataset>", models, TEXT_MODELS)
        epochs = {model: budget.video.of(model).epochs for model in self.video.models}
        epochs |= {model: getattr(budget.text, model).epochs for model in text_models}
        epochs["causal_lm"] = budget.lm.epochs
        for model, count in epochs.items():
            if getattr(self.primal_dual, model).warmup_epochs >= count:
                raise ValueError(
                    f"primal_dual.{model}.warmup_epochs leaves none of the profile's epochs to the duals"
                )
        return self

    @property
    def budget(self) -> Profile:
        """The data sources, grids and budgets of the profile in use."""
        return self.profiles[self.profile]

    def constraints(self, model: str, overrides: dict[str, Any] | None = None, where: str = "") -> PrimalDual:
        """primal_dual.<model>, with some values replaced by the section named `where`.

        Raises:
            UserError: the section holds an unknown key or a wrong type.
        """
        values = getattr(self.primal_dual, model).model_dump() | (overrides or {})
        return _validate(PrimalDual, values, where or f"primal_dual.{model}")

    def text_constraints(self, model: str, dataset: str) -> PrimalDual:
        """The constrained problem of a text model on a data set (Table 2: rho differs between data sets)."""
        overrides = self.text.per_dataset.get(dataset, {}).get(model)
        return self.constraints(model, overrides, f"text.per_dataset.{dataset}.{model}" if overrides else "")

    def lm_constraints(self) -> PrimalDual:
        """The constrained problem of the language model; R0 goes with a profile's vocabulary."""
        return self.constraints("causal_lm", self.budget.lm.primal_dual, "profiles.<profile>.lm.primal_dual")


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
    params.constraints(params.infeasible.model, params.infeasible.primal_dual, "infeasible.primal_dual")
    for dataset, models in params.text.per_dataset.items():
        for model in models:
            params.text_constraints(model, dataset)
    params.lm_constraints()
    return params


def of_results(params: Params) -> str:
    """What `load` reads back from OF_RESULTS: the profile in use, without what changes no result.

    Figures and tables depend on this file. The sections that it holds, written out for each of them, would make
    half of dvc.lock.
    """
    indifferent = {"method": "constrained", "device": "auto", "local_data": ""}
    values = params.model_dump(mode="json") | indifferent
    values["profiles"] = {params.profile: values["profiles"][params.profile]}
    return json.dumps(values, indent=1) + "\n"
