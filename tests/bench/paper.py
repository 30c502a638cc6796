"""A model of the profile `paper` in its own shape, with random weights and made-up data: nothing is downloaded."""

from pathlib import Path
from typing import Any

from descent.config import Params
from descent.costs import shapes
from descent.costs.data import standin


def shaped(values: Params, dataset: str, model: str, folder: Path, shrink: int = 1) -> tuple[Params, Any]:
    """The parameters and the data.

    Args:
        shrink: how many times narrower, for a test.
    """
    paper = values.model_copy(update={"profile": "paper"})
    made_up = shapes.random_weights(model, shapes.pretrained(paper, model), shrink)
    own = paper.with_budget(model, made_up)
    return own, standin(own, dataset, model, folder, shrink)
