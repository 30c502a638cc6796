"""A study: one setting of a task, in which something of one arm's objective is varied, or what all arms share."""

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from descent.schema import Count, Grid, NonNegative, Once, Positive, Schema, Seed

Times = Annotated[Positive, Field(le=1000)]
RATE = "lr"  # of the weights: every arm has one, so varying it varies that of every arm
MODEL = "model"  # among replaced values: those of models.<model>, of which every arm's cells are
FIXED = {"arms": "every arm has such a model", "tokenizer": "texts are prepared for the one in models"}
READ_AS_NOTHING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>")  # in a CSV file
TWICE = 2.0
# What the names of studies begin with, and what each promises by it.
LONGER = "plateau_"  # P4: it trains cells of a task's grid for TWICE the epochs
RATES = "rates_"  # P6: trials of learning rates, of every arm alike, before seeds are spent
CONTROLS = "controls"  # what the constraint does beside other arms or at other values: figures of controls
SAME_RATE = f"{CONTROLS}_rates_"  # both arms at each of several rates
READINGS = f"{CONTROLS}_readings_"  # other readings of what the paper leaves open, in both arms, the usual first


class Study(Schema):
    """One setting of a task, in which a value of one arm's objective is varied, or several by a name, or RATE.

    Values by a name may be of MODEL too: every arm then trains such models.
    """

    task: Literal["video", "text", "lm"]
    dataset: str
    model: str
    layers: Count | None
    eps: NonNegative
    arm: str
    beside: Once[str]
    times: Times = 1.0  # as many epochs as the profile's; fewer where below one
    alone: bool = False  # whether it runs where its model is not in use, on data that other models have prepared
    tested: bool = True  # whether its cells see test data; trials of rates do not
    vary: str | None
    named: dict[str, dict[str, Any]] = Field(default_factory=dict)
    overrides: dict[str, Any]
    values: Once[bool | int | float | str]
    seeds: Grid[Seed]

    @model_validator(mode="after")
    def _can_be_trained(self) -> "Study":
        if self.arm in self.beside:
            raise ValueError(f"{self.arm} stands in beside too, and would be trained twice")
        if self.alone and self.task == "video":
            raise ValueError(
                "alone is of texts: what a lost video model scores, the map to zero, is measured for models in "
                "video.models alone; put this one there"
            )
        for settings in (own.get(MODEL, {}) for own in (self.overrides, *self.named.values())):
            if not isinstance(settings, dict):
                raise ValueError(f"{MODEL} should hold settings of the model, as {MODEL}: {{kappa: 0.5}}")
            for name in FIXED.keys() & settings:
                raise ValueError(f"{MODEL} cannot hold {name}: {FIXED[name]}")
        for word in [*self.named, *(value for value in self.values if isinstance(value, str))]:
            if "/" in word or word.startswith(".") or not word.isprintable() or word in READ_AS_NOTHING:
                raise ValueError(
                    f"{word!r} cannot be the name of a folder and a word in a table: call it otherwise"
                )
        if self.vary is not None and self.named:
            raise ValueError("named and vary both say what is varied; drop one")
        return self

    @property
    def same_objectives(self) -> bool:
        """Whether it leaves the objectives and rates of its arms as they are."""
        return self.vary is None and not self.named and not self.overrides

    def variants(self) -> dict[str, dict[str, Any]]:
        """What the varied arm's objective has in place of its values, by the word in the column `varied`."""
        if self.named:
            return {name: self.common | _without_model(values) for name, values in self.named.items()}
        if self.vary is None:
            return {"": self.common}
        return {_word(value): self.common | {self.vary: value} for value in self.values}

    @property
    def common(self) -> dict[str, Any]:
        """What the varied arm's objective has in place of its values in every variant."""
        return _without_model(self.overrides)

    def reading(self, varied: str) -> dict[str, Any]:
        """What every arm's model has in place of its settings, by the same word."""
        return self.overrides.get(MODEL, {}) | self.named.get(varied, {}).get(MODEL, {})

    def baseline_of(self, varied: str) -> str:
        """Under which word the arms beside have the cell that one of the varied arm is laid beside: its own where
        what is varied is shared by all arms."""
        return varied if self.vary == RATE or MODEL in self.named.get(varied, {}) else ""

    def trained(self) -> list[tuple[str, str]]:
        """The arms of a seed's cells, each with its word in the column `varied`: those beside as they are, or at
        every value that all share, and the varied arm at every value."""
        words = self.variants()
        beside = dict.fromkeys(map(self.baseline_of, words))
        return [(arm, word) for arm in self.beside for word in beside] + [(self.arm, word) for word in words]

    def replaced(self, arm: str, varied: str) -> dict[str, Any] | None:
        """What a cell has in place of values of its arm's objective; None: nothing."""
        if arm == self.arm:
            return self.variants()[varied]
        return {RATE: self.variants()[varied][RATE]} if self.vary == RATE else None


def broken(name: str, study: Study, pair: Collection[str]) -> str:
    """Which promise of its name a study breaks, and how to keep it; empty where it breaks none.

    Args:
        pair: the arms that are compared.
    """
    if name.startswith(LONGER) and study.times != TWICE:
        return f"a {LONGER}* trains for twice the epochs (P4): set times: 2"
    if name.startswith(LONGER) and not study.same_objectives:
        return f"a {LONGER}* trains what its task's grid does (P4): let it vary and override nothing"
    if name.startswith((RATES, SAME_RATE)) and study.vary != RATE:
        return f"a {RATES}* or {SAME_RATE}* has every arm at each of several rates: set vary: {RATE}"
    if name.startswith((SAME_RATE, READINGS)) and not {*pair} <= {study.arm, *study.beside}:
        return f"a {SAME_RATE}* or {READINGS}* compares {' and '.join(pair)}: have both in arm and beside"
    return ""


def _without_model(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != MODEL}


def _word(value: bool | int | float | str) -> str:
    """A value in the column `varied` and in names of folders, where 1 has always been 1.0."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(float(value)) if whole else str(value)
