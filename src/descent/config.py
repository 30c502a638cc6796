"""params.yaml read, and what it says of a cell: of each value, the more special before the more general."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from descent import components, kept
from descent.declared import Declared
from descent.errors import UserError
from descent.io import core_yaml
from descent.primal_dual.problem import Problem
from descent.schema import Precision, validated
from descent.study import CONTROLS, Study, broken
from descent.tasks.lm import schema as lm
from descent.tasks.text import schema as text
from descent.tasks.video import schema as video

SOURCES = {"video": video.Source, "text": text.Source, "lm": lm.Source}


@runtime_checkable
class Trained(Protocol):
    """What tells how a cell is trained and held to constraints: a Cell, or a row of results."""

    experiment: str
    dataset: str
    model: str
    arm: str
    varied: str


class Params(Declared):
    """The sections of params.yaml, asked for what holds of a model, an arm, a study or a cell."""

    def shifts_of(self, task: str) -> list[str]:
        """The shifts under which a task's cells are tested: the profile's, else those of the task's evaluation."""
        return self.budget.grids(task).shifts or self.section(task).evaluation.shifts

    def precision_of(self, task: str) -> Precision:
        """In which precision a task's trained models are tested."""
        return self.section(task).evaluation.precision or self.training.precision

    @property
    def tasks(self) -> list[str]:
        """The tasks of which data sets and models are in use."""
        return [task for task in components.TASKS if self.section(task).datasets and self.section(task).models]

    @property
    def models_in_use(self) -> list[tuple[str, str]]:
        """Each model in use, behind its task."""
        return [(task, model) for task in self.tasks for model in self.section(task).models]

    @property
    def places(self) -> list[tuple[str, str, str]]:
        """Each model in use on each data set in use: task, data set, model."""
        return [(task, name, model) for task, model in self.models_in_use for name in self.section(task).datasets]

    @property
    def enforcing(self) -> list[str]:
        """The arms in use that hold their cells to constraints; comparison.ours first, where it does."""
        arms = [arm for arm in self.arms if self.components["arms"][arm]["ENFORCES"]]
        return sorted(arms, key=lambda arm: arm != self.comparison.ours)

    def task_of(self, model: str) -> str:
        """The task of a model, as its file says."""
        return self.components["models"][model]["TASK"]

    def tolerance_of(self, model: str) -> float:
        """The largest relative violation of a feasible cell of a model, as its task's section says."""
        return float(self.section(self.task_of(model)).tolerance)

    def source(self, task: str, dataset: str) -> Any:
        """Where a data set comes from, as its task's Source.

        Raises:
            UserError: the data set is not of this task, the profile has no source for it, or it is not right.
        """
        components.check(f"tasks.{task}.datasets", dataset, f"{task} data set")
        self._known("data", dataset, self.budget.data)
        return validated(SOURCES[task], self.budget.data[dataset], f"profiles.{self.profile}.data.{dataset}")

    def model_budget(self, model: str) -> dict[str, Any]:
        """The profile's values for a model: its task's, with the model's own in place of or beside them."""
        grids = self.budget.grids(self.task_of(model))
        of_task = {"eps", "seeds", "shifts", "models", "tokenizers", "prompt", "max_tokens"}
        common = grids.model_dump(exclude=of_task)
        return common | self._of_model(grids.models, model)

    def epochs(self, model: str, times: float = 1.0) -> int:
        """So many times the epochs of a model's budget, rounded and one at least."""
        return max(1, round(times * self.model_budget(model)["epochs"]))

    def trained_for(self, model: str, times: float) -> "Params":
        """These parameters, with so many times the epochs in a model's budget (`epochs`)."""
        return self.with_budget(model, {"epochs": self.epochs(model, times)})

    def read_as(self, model: str, values: dict[str, Any]) -> "Params":
        """These parameters, with these values in models.<model>, whatever an arm's cells have in place of them."""
        own = self.models.get(model, {})
        arms = self._of_model(self.models, model).get("arms", {})
        kept = {arm: {name: of for name, of in said.items() if name not in values} for arm, said in arms.items()}
        return self.model_copy(update={"models": self.models | {model: own | values | {"arms": kept}}})

    def with_budget(self, model: str, values: dict[str, Any]) -> "Params":
        """These parameters, with these values in a model's budget."""
        task = self.task_of(model)
        grids = self.budget.grids(task)
        models = grids.models | {model: self._of_model(grids.models, model) | values}
        profile = self.budget.model_copy(update={task: grids.model_copy(update={"models": models})})
        return self.model_copy(update={"profiles": self.profiles | {self.profile: profile}})

    def model_settings(self, model: str, arm: str) -> dict[str, Any]:
        """models.<model>, with the values that an arm's cells have in place of it."""
        values = self._of_model(self.models, model)
        return values | values.pop("arms", {}).get(arm, {})

    def tied(self, model: str, arm: str) -> bool:
        """Whether all layers of such a model are one map, by the settings that its file, or that of the model that
        it is like in the end, names as TIED."""
        of = self.components["models"][self._root(model)].get("TIED")
        return of is not None and of.items() <= self.model_settings(model, arm).items()

    def objective(
        self,
        arm: str,
        dataset: str,
        model: str,
        overrides: dict[str, Any] | None = None,
        profile: bool = True,
    ) -> dict[str, Any]:
        """An arm's values for a model on a data set, the more special in place of the more general.

        Each of these replaces values of those before: those of the arm that `like` names, objectives.<arm>, its
        `models`, its `datasets`, `arms` of the profile's model, and a study's overrides. `lr` is among them where
        one of them gives it.

        Args:
            profile: False leaves the profile's out: what `objectives` alone say.
        """
        common = dict(self.objectives.get(arm, {}))
        like = common.pop("like", None)
        if like is not None:
            self._known("objectives", like, self.objectives)
            common = self.objective(like, dataset, model, profile=profile) | common
        models = common.pop("models", {})
        datasets = common.pop("datasets", {})
        own = self.model_budget(model).get("arms", {}).get(arm, {}) if profile else {}
        special = self._of_model(models, model) | self._of_model(datasets.get(dataset, {}), model)
        return common | special | own | (overrides or {})

    def problem(
        self, dataset: str, model: str, overrides: dict[str, Any] | None = None, of: str | None = None
    ) -> Problem | None:
        """The constraints to which the cells of a setting are held, of whatever arm: those of the arm `of`, or of
        the first of `enforcing`; None where there is none.

        Raises:
            UserError: a section holds an unknown key or a wrong type.
        """
        arm = of or next(iter(self.enforcing), None)
        if arm is None:
            return None
        known = {key: own for key, own in self.objective(arm, dataset, model, overrides).items() if key != "lr"}
        return validated(Problem, known, f"objectives.{arm} of {model} on {dataset}")

    def held_to(self, cell: Trained) -> Problem | None:
        """`problem` of a cell, whatever its arm: a study's, where it varies an arm that enforces constraints."""
        if cell.experiment in components.TASKS:
            return self.problem(cell.dataset, cell.model)
        study = self.studied(cell.experiment)
        if not self.components["arms"][study.arm]["ENFORCES"]:
            return self.problem(cell.dataset, cell.model)
        changed = study.variants().get(cell.varied, study.common)  # the arms beside have no word, or one of theirs
        return self.problem(cell.dataset, cell.model, changed, study.arm)

    def replaced(self, cell: Trained) -> dict[str, Any] | None:
        """What a cell of a study has in place of values of its arm's objective; None: nothing."""
        if cell.experiment in components.TASKS:
            return None
        return self.studied(cell.experiment).replaced(cell.arm, cell.varied)

    def _study(self, name: str) -> dict[str, Any]:
        """What `study` and the profile in use say of one, over what they say of the study that it is like."""
        own = dict(self.study[name])
        like = own.pop("like", None)
        inherited = self._study(like) if like else {"values": [], "seeds": [0]}
        return inherited | own | self.budget.studies.get(name, {})

    @property
    def in_use(self) -> dict[str, Study]:
        """The studies in use, by their names. Raises UserError as `studied`."""
        return {name: self.studied(name) for name in self.studies}

    def controls(self, task: str | None = None) -> list[str]:
        """The studies of controls in use that run, of a task or of all."""
        return [
            name
            for name, study in self.in_use.items()
            if name.startswith(CONTROLS) and task in (None, study.task) and self.runs(study)
        ]

    def studied(self, name: str) -> Study:
        """A study as the profile in use has it.

        Raises:
            UserError: no study of that name, or one that is not right.
        """
        self._known("studies", name, self.study)
        study = validated(Study, self._study(name), f"study.{name}")
        where = f"study.{name}"
        for arm in (study.arm, *study.beside):
            components.check("arms", arm, where)
        components.check("models", study.model, where)
        task = self.task_of(study.model)
        if task != study.task:
            raise UserError(f"{where}: {study.model} is a model of {task}, not of {study.task}")
        components.check(f"tasks.{task}.datasets", study.dataset, where)
        if promise := broken(name, study, self.comparison.arms):
            raise UserError(f"{where}: {promise}, or rename it")
        if study.vary is not None and not study.values:
            none = f"profiles.{self.profile}.studies.{name} has no values"
            raise UserError(f"{where} varies {study.vary}, but {none}")
        return study

    def valued(self, name: str) -> bool:
        """Whether what a study varies has values, its own or those of the profile in use, or it varies nothing."""
        return self._study(name).get("vary") is None or bool(self._study(name)["values"])

    def runs(self, study: Study) -> bool:
        """Whether a study's data set and model are in use, or it runs alone; else its stages make nothing."""
        task = self.section(study.task)
        tokenizer = self.tokenizer(study.model)
        prepared = tokenizer in self.tokenizers(study.task) if tokenizer else True
        return study.dataset in task.datasets and (study.model in task.models or (study.alone and prepared))

    def _known(self, where: str, name: str, choices: Collection[str]) -> None:
        if name not in choices:
            known = ", ".join(choices)
            raise UserError(f"{where} of profile {self.profile}: unknown name {name!r}; known: {known}")


def load(path: Path = Path("params.yaml")) -> Params:
    """Read and check the whole file.

    Raises:
        UserError: missing or unreadable file, an unknown, missing or wrong key.
    """
    if path == kept.OF_RESULTS and not path.exists():
        raise UserError(f"there are no results yet ({path} is missing): run `make repro` first")
    values = kept.read() if path == kept.OF_RESULTS else core_yaml.read(path)
    if not isinstance(values, dict):
        raise UserError(f"{path} is not right: it should hold sections, not {values!r}")
    if path != kept.OF_RESULTS and "components" in values:
        raise UserError(f"{path} is not right:\n  components: unknown key")
    params = validated(Params, values, str(path))
    for name in params.studies:
        params.studied(name)
    return params
