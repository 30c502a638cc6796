"""What params.yaml holds, as frozen, strict objects: an unknown key, a wrong type or a missing key names its path.

The sections of open places (objectives, models, shifts) are plain values here, since figures read params.yaml and
never load torch; who computes with one validates it against the schema in its component's file.
"""

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from descent import components, names
from descent.runner.schema import ALONE, Ray, Shares
from descent.schema import Device, Grid, ModelSection, NonNegative, ObjectiveSection, Schema, StudySection
from descent.tasks.lm import schema as lm
from descent.tasks.text import schema as text
from descent.tasks.video import schema as video
from descent.training.schema import Training


class Comparison(Schema):
    ours: str
    baseline: str

    @property
    def arms(self) -> tuple[str, str]:
        """The two arms of the paper's comparison, ours first."""
        return self.ours, self.baseline


class Profile(Schema):
    data: dict[str, dict[str, Any]]
    video: video.Grids
    text: text.Grids
    lm: lm.Grids
    studies: dict[str, dict[str, Any]]

    def grids(self, task: str) -> video.Grids | text.Grids | lm.Grids:
        """What the profile gives a task."""
        return getattr(self, task)


class Declared(Schema):
    profile: str
    eps: NonNegative
    method: str
    device: Device
    # These three have defaults, since the parameters that results were made with do not hold them; `judged` has
    # one for those that were published before there was a choice.
    executor: Literal["local", "ray"] = "local"
    gpu_share: Shares = Field(default_factory=lambda: dict(ALONE))
    ray: Ray = Field(default_factory=Ray)
    local_data: str
    arms: Grid[str]
    comparison: Comparison
    judged: Literal["together", "alone"] = "together"
    studies: list[str]
    objectives: dict[str, ObjectiveSection]
    video: video.Video
    text: text.Text
    lm: lm.LanguageModel
    shifts: dict[str, dict[str, Any]]
    models: dict[str, ModelSection]
    training: Training
    study: dict[str, StudySection]
    profiles: dict[str, Profile]
    # What the components say of themselves; in params.json as it was when the results were made.
    components: dict[str, dict[str, dict[str, Any]]] = Field(default_factory=components.describe)

    @model_validator(mode="after")
    def _names_exist(self) -> "Declared":
        names.known("profile", [self.profile], self.profiles)
        names.known("arms", self.arms, self.components["arms"])
        names.known("method (one of arms)", [self.method], self.arms)
        names.known("comparison (of arms)", self.comparison.arms, self.arms)
        names.known("studies", self.studies, self.study)
        for name, own in self.study.items():
            names.known(f"study.{name}.like", [own["like"]] if "like" in own else [], self.study)
        names.endless("study", {name: own.get("like") for name, own in self.study.items()})
        names.known("objectives", self.objectives, self.components["arms"])
        names.endless("objectives", {arm: own.get("like") for arm, own in self.objectives.items()})
        for task in components.TASKS:
            section = self.section(task)
            grids = self.budget.grids(task)
            names.known(f"{task}.datasets", section.datasets, self.components[f"tasks.{task}.datasets"])
            names.known(f"{task}.datasets", section.datasets, self.budget.data)
            names.known(f"{task}.models", section.models, self._models_of(task))
            for where, shifts in (
                (f"{task}.evaluation.shifts", section.evaluation.shifts),
                (f"profiles.{self.profile}.{task}.shifts", grids.shifts or []),
            ):
                names.known(where, shifts, self.components["shifts"])
                names.fit(where, shifts, task, self.components["shifts"])
                names.known(where, shifts, self.shifts)
            names.judged(task, section, grids, self.profile)
            for model in section.models:
                names.known("models", [model], self.models)
                names.known(f"profiles.{self.profile}.{task}.models", [self._root(model)], grids.models)
            if (search := getattr(section, "search", None)) is not None:
                names.known(f"{task}.search.arms", search.arms, self.components["arms"])
            for name in self.tokenizers(task):
                names.known(f"profiles.{self.profile}.{task}.tokenizers", [name], grids.tokenizers)
        return self

    @model_validator(mode="after")
    def _what_values_belong_to_exists(self) -> "Declared":
        """Values of what is called otherwise would be passed over in silence, of one arm alone perhaps."""
        if "components" in self.model_fields_set:  # of results, for which it was asked when they were made
            return self
        arms, models = self.components["arms"], self.components["models"]
        sets = [name for task in components.TASKS for name in self.components[f"tasks.{task}.datasets"]]
        names.known("models", self.models, models)
        names.known("gpu_share", self.gpu_share.keys() - ALONE.keys(), models)
        for model, own in self.models.items():
            names.known(f"models.{model}.arms", own.get("arms", {}), arms)
        for arm, own in self.objectives.items():
            by_dataset = own.get("datasets", {})
            names.known(f"objectives.{arm}.models", own.get("models", {}), models)
            names.known(f"objectives.{arm}.datasets", by_dataset, sets)
            for name, by_model in by_dataset.items():
                names.known(f"objectives.{arm}.datasets.{name}", by_model, models)
        for profile, own in self.profiles.items():
            names.known(f"profiles.{profile}.data", own.data, sets)
            names.known(f"profiles.{profile}.studies", own.studies, self.study)
            for task in components.TASKS:
                budgets, where = own.grids(task).models, f"profiles.{profile}.{task}.models"
                names.known(where, budgets, self._models_of(task))
                for model, budget in budgets.items():
                    names.known(f"{where}.{model}.arms", budget.get("arms", {}), arms)
        return self

    def _models_of(self, task: str) -> list[str]:
        return [name for name, said in self.components["models"].items() if said["TASK"] == task]

    def section(self, task: str) -> video.Video | text.Text | lm.LanguageModel:
        """What params.yaml says of a task, whatever the profile."""
        return getattr(self, task)

    @property
    def budget(self) -> Profile:
        """The data sources, grids and budgets of the profile in use."""
        return self.profiles[self.profile]

    @property
    def lacking(self) -> list[str]:
        """The data sets, models and tokenizers in use of which the profile in use says nothing."""
        found: list[str] = []
        for task in components.TASKS:
            section, grids = self.section(task), self.budget.grids(task)
            found += [name for name in section.datasets if name not in self.budget.data]
            found += [name for name in section.models if not self.budgeted(name)]
            found += [name for name in self.tokenizers(task) if name not in grids.tokenizers]
        return found

    def label(self, word: str) -> str:
        """What a component is called: its LABEL, or its name where it is no longer there. No two share a name."""
        return next((said[word]["LABEL"] for said in self.components.values() if word in said), word)

    def in_words(self, sentence: str) -> str:
        """A sentence with the labels of models and data sets in place of their names."""
        places = ("models", *(f"tasks.{task}.datasets" for task in components.TASKS))
        known = {name for place in places for name in self.components[place]}
        return re.sub(r"\w+", lambda found: self.label(found[0]) if found[0] in known else found[0], sentence)

    def budgeted(self, model: str) -> bool:
        """Whether the profile in use has a budget for a model, or for the one that it is like in the end."""
        task = self.components["models"][model]["TASK"]
        return self._root(model) in self.budget.grids(task).models

    def tokenizer(self, model: str) -> str:
        """The tokenizer of a model of text, as its section says."""
        return self._of_model(self.models, model).get("tokenizer", "")

    def tokenizers(self, task: str) -> list[str]:
        """The tokenizers that a task's models in use name, each once; none of video."""
        models = self.section(task).models
        return sorted({self.tokenizer(model) for model in models} - {""})

    def _of_model(self, section: dict[str, dict[str, Any]], model: str) -> dict[str, Any]:
        """What a section says of a model, over what it says of the model that its file is LIKE."""
        like = self.components["models"][model].get("LIKE")
        return (self._of_model(section, like) if like else {}) | section.get(model, {})

    def _root(self, model: str) -> str:
        """The model that this one is like in the end; itself where it is like none."""
        like = self.components["models"][model].get("LIKE")
        return self._root(like) if like else model
