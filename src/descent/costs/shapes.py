"""Shapes of pretrained models and sizes of vocabularies, all that an estimate needs of them: of a local folder by
its files, of what is not here by a table."""

import csv
from pathlib import Path
from typing import Any, get_args

from descent import inventory
from descent.components import load
from descent.config import Params
from descent.errors import UserError
from descent.io.places import local
from descent.models.parts.inputs import Pretrained
from descent.tasks.text import tokenizers

TABLE = Path(__file__).with_name("shapes.csv")
FIELDS = {  # of a configuration of the library, by our names; the first that it has
    "width": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "key_value_heads": ("num_key_value_heads", "num_attention_heads"),
    "feedforward": ("intermediate_size", "hidden_dim"),
    "image": ("image_size",),
    "patch": ("patch_size",),
    "vocabulary": ("vocab_size",),
}


def vocabulary(params: Params, task: str, model: str) -> int:
    """The words of a model's tokenizer.

    Raises:
        UserError: it is not made here, has no readable folder, and the table does not know it.
    """
    source = params.budget.grids(task).tokenizers[params.tokenizer(model)]
    if source.train:
        return source.train.vocabulary
    if source.path and (folder := local(params.local_data, source.path)).exists():
        return tokenizers.vocabulary(tokenizers.read(folder))
    return _known(source.model_dump())["vocabulary"]


def pretrained(params: Params, model: str) -> dict[str, int] | None:
    """The shape of what the profile takes a model's weights, or word embeddings, from; None where they are random.

    Raises:
        UserError: there is no readable folder of it, and the table does not know it.
    """
    given = [params.model_budget(model).get(key) for key in inventory.FROM]
    sources = [one for one in given if isinstance(one, dict) and (one.get("hub") or one.get("path"))]
    if not sources:
        return None
    [source] = sources[:1]
    path = source.get("path")
    here = path and local(params.local_data, path).is_dir()
    shape = _read(path, params.local_data) if here else _known(source)
    return shape | ({"image": source["image"]} if source.get("image") else {})  # of images, those that it is shown


def random_weights(model: str, shape: dict[str, int], shrink: int) -> dict[str, Any]:
    """What a model's budget says of random weights of a shape, `shrink` times narrower."""
    fields = load("models", model).Budget.model_fields
    if "embeddings" in fields:
        return {"embeddings": {"width": shape["width"] // shrink}}
    (size, *_) = get_args(fields["weights"].annotation.model_fields["random"].annotation)
    narrow = {"width", "heads", "key_value_heads", "feedforward"}
    sizes = {name: max(1, shape[name] // shrink) if name in narrow else shape[name] for name in size.model_fields}
    return {"weights": {"random": sizes}}


def _read(path: str, local_data: str) -> dict[str, int]:
    from descent.models.parts.pretrained import configuration  # its library takes seconds to import

    config, found = configuration(Pretrained(path=path), local_data), {}
    for name, fields in FIELDS.items():
        said = (getattr(config, field, None) for field in fields)
        found |= {name: value} if (value := next(filter(None, said), None)) else {}
    return found


def _known(source: dict[str, Any]) -> dict[str, int]:
    name = source["hub"]["id"] if source.get("hub") else source["path"]
    with TABLE.open() as file:
        rows = {row.pop("name"): row for row in csv.DictReader(file)}
    if name not in rows:
        raise UserError(
            f"the shape of {name} is not known: put it under local_data, or add a line for it to {TABLE.name} "
            f"beside {__name__}"
        )
    return {key: int(value) for key, value in rows[name].items() if value}
