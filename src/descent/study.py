"""A study: one setting of a task, in which something of one arm's objective is varied."""

from typing import Any, Literal

from pydantic import Field

from descent.schema import Count, Grid, NonNegative, Once, Schema, Seed


class Study(Schema):
    """One setting of a task, in which a value of one arm's objective is varied, or several by a name."""

    task: Literal["video", "text", "lm"]
    dataset: str
    model: str
    layers: Count | None
    eps: NonNegative
    arm: str
    beside: Once[str]
    times: Count = 1  # as many epochs as the profile's
    vary: str | None
    named: dict[str, dict[str, Any]] = Field(default_factory=dict)
    overrides: dict[str, Any]
    values: Once[float | str]
    seeds: Grid[Seed]

    def variants(self) -> dict[str, dict[str, Any]]:
        """What the varied arm's objective has in place of its values, by the word in the column `varied`."""
        if self.named:
            return {name: self.overrides | values for name, values in self.named.items()}
        if self.vary is None:
            return {"": self.overrides}
        return {str(value): self.overrides | {self.vary: value} for value in self.values}
