"""Shapes of pretrained models and sizes of vocabularies that are not here: what an estimate needs of them."""

import csv
from pathlib import Path
from typing import Any, get_args

from descent import inventory
from descent.components import load
from descent.config import Params
from descent.errors import UserError

TABLE = Path(__file__).with_name("shapes.csv")


def vocabulary(params: Params, task: str, model: str) -> int:
    """The words of a model's tokenizer.

    Raises:
        UserError: it is not made here, and the table does not know it.
    """
    source = getattr(params.budget, task).tokenizers[params.tokenizer(model)]
    return source.train.vocabulary if source.train else _shape(source.model_dump())["vocabulary"]


def pretrained(params: Params, model: str) -> dict[str, int] | None:
    """The shape of what the profile takes a model's weights, or word embeddings, from; None where they are random.

    Raises:
        UserError: the table does not know it.
    """
    given = [params.model_budget(model).get(key) for key in inventory.FROM]
    sources = [one for one in given if isinstance(one, dict) and (one.get("hub") or one.get("path"))]
    return _shape(sources[0]) if sources else None


def random_weights(model: str, shape: dict[str, int], shrink: int) -> dict[str, Any]:
    """What a model's budget says of random weights of a shape, `shrink` times narrower."""
    fields = load("models", model).Budget.model_fields
    if "embeddings" in fields:
        return {"embeddings": {"width": shape["width"] // shrink}}
    (size, *_) = get_args(fields["weights"].annotation.model_fields["random"].annotation)
    narrow = {"width", "heads", "key_value_heads", "feedforward"}
    sizes = {name: max(1, shape[name] // shrink) if name in narrow else shape[name] for name in size.model_fields}
    return {"weights": {"random": sizes}}


def _shape(source: dict[str, Any]) -> dict[str, int]:
    name = source["hub"]["id"] if source.get("hub") else source["path"]
    with TABLE.open() as file:
        rows = {row.pop("name"): row for row in csv.DictReader(file)}
    if name not in rows:
        raise UserError(f"the shape of {name} is not known: add a line for it to {TABLE.name} beside {__name__}")
    shown = {"image": source["image"]} if source.get("image") else {}  # of images, those that it is shown
    return {key: int(value) for key, value in rows[name].items() if value} | shown
