"""A tiny ViT and the parameters for it, for the tests of the third video model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, ViTConfig, ViTForImageClassification, ViTModel

from descent.cells import Cell
from descent.config import Params
from descent.models import vit
from descent.models.parts.inputs import VideoInputs
from descent.models.vit import ViT
from descent.tasks.common.items import budget_of, settings_by_arm
from tests.fakes.core import DATASET, RATES, small_params
from tests.fakes.text import normal

BUDGET = "profiles.demo.video.models.vit"
LAYERS, IMAGE, PATCH, WIDTH = 3, 6, 2, 12
SIZE = {"image": IMAGE, "patch": PATCH, "width": WIDTH, "heads": 2, "feedforward": 10}
VIT = {
    "video.models": ["ut", "dust", "vit"],
    "models.vit.antialias": True,
    BUDGET: RATES
    | {
        "layers": [LAYERS],
        "weights": {"random": SIZE},
        "dropout": 0.0,
        "batch": 4,
        "epochs": 2,
        "epoch_inputs": 12,
        "validation_inputs": 5,
        "lr": 0.003,
    },
}


def vit_params(changes: dict[str, Any] | None = None) -> Params:
    """Small parameters of ViT, then `changes` as in fakes.core."""
    return small_params(VIT | (changes or {}))


def cells(*seeds: int, eps: Sequence[float] = (0.5,), arm: str = "constrained") -> list[Cell]:
    """A cell for each seed (0 if none) and level."""
    return [Cell("video", DATASET, "vit", arm, LAYERS, level, seed) for seed in seeds or (0,) for level in eps]


def build(changes: dict[str, Any] | None = None, seed: int = 0) -> ViT:
    """A tiny ViT as the pipeline makes it, of the seed's random weights or of those that `changes` name."""
    params = vit_params(changes)
    inputs = VideoInputs(params.video.frame.patch, params.local_data)
    return vit.build(
        settings_by_arm(params, "vit")["constrained"], budget_of(params, "vit"), inputs, LAYERS, [seed]
    )


def pretrained(place: Path | str) -> dict[str, Any]:
    """Changes of parameters that name a folder, or an id of the hub, as the source of weights."""
    source = {"hub": {"id": place}} if isinstance(place, str) else {"path": str(place)}
    return {f"{BUDGET}.weights": {"random": None} | source}


def library(classifier: bool = False, **changes: Any) -> PreTrainedModel:
    """The library's own model of the tiny size, every parameter moved, with or without its classifier."""
    sizes = {"image_size": IMAGE, "patch_size": PATCH, "hidden_size": WIDTH, "num_hidden_layers": LAYERS}
    config = ViTConfig(**{**sizes, "num_attention_heads": 2, "intermediate_size": 10, **changes})
    body = (ViTForImageClassification(config) if classifier else ViTModel(config, add_pooling_layer=False)).eval()
    for seed, parameter in enumerate(body.parameters()):
        parameter.data += 0.1 * normal(*parameter.shape, seed=seed)
    return body
