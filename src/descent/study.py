"""A study: one setting of a task, in which something of one arm's objective is varied, or the rate of all arms."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from descent.schema import Count, Grid, NonNegative, Once, Positive, Schema, Seed

Times = Annotated[Positive, Field(le=1000)]
RATE = "lr"  # of the weights: every arm has one, so varying it varies that of every arm
LONGER = "plateau_"  # P4: what the names of its studies begin with, which train for TWICE the epochs
TWICE = 2.0


class Study(Schema):
    """One setting of a task, in which a value of one arm's objective is varied, or several by a name, or RATE."""

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
    def _trains_each_once(self) -> "Study":
        if self.arm in self.beside:
            raise ValueError(f"{self.arm} stands in beside too, and would be trained twice")
        if self.vary is not None and self.named:
            raise ValueError("named and vary both say what is varied; drop one")
        return self

    @property
    def plain(self) -> bool:
        """Whether it leaves the objectives and rates of its arms as they are."""
        return self.vary is None and not self.named and not self.overrides

    def variants(self) -> dict[str, dict[str, Any]]:
        """What the varied arm's objective has in place of its values, by the word in the column `varied`."""
        if self.named:
            return {name: self.overrides | values for name, values in self.named.items()}
        if self.vary is None:
            return {"": self.overrides}
        return {_word(value): self.overrides | {self.vary: value} for value in self.values}

    def trained(self) -> list[tuple[str, str]]:
        """The arms of a seed's cells, each with its word in the column `varied`: those beside as they are, and the
        varied arm at every value."""
        beside = self.variants() if self.vary == RATE else [""]
        return [(arm, word) for arm in self.beside for word in beside] + [(self.arm, w) for w in self.variants()]

    def replaced(self, arm: str, varied: str) -> dict[str, Any] | None:
        """What a cell has in place of values of its arm's objective; None: nothing."""
        if arm == self.arm:
            return self.variants()[varied]
        return {RATE: self.variants()[varied][RATE]} if self.vary == RATE else None


def _word(value: bool | int | float | str) -> str:
    """A value in the column `varied` and in names of folders, where 1 has always been 1.0."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(float(value)) if whole else str(value)
