"""A tiny ViT and the parameters for it, for the tests of the third video model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, ViTConfig, ViTForImageClassification, ViTModel

from descent.cells import Cell
from descent.config import Params
from tests.fakes.core import DATASET, PRIMAL_DUAL, small_params
from tests.fakes.text import normal

BUDGET = "profiles.demo.video.vit"
LAYERS, IMAGE, PATCH, WIDTH = 3, 6, 2, 12
SIZE = {"image": IMAGE, "patch": PATCH, "width": WIDTH, "heads": 2, "feedforward": 10}
VIT = {
    "video.models": ["ut", "dust", "vit"],
    "models.vit.antialias": True,
    "primal_dual.vit": PRIMAL_DUAL,
    BUDGET: {
        "layers": LAYERS,
        "weights": {"random": SIZE},
        "dropout": 0.0,
        "batch": 4,
        "epochs": 2,
        "epoch_frames": 12,
        "validation_frames": 5,
        "test_frames": None,
        "lr": 0.003,
        "dual_lr": 0.02,
    },
}


def vit_params(changes: dict[str, Any] | None = None) -> Params:
    """Small parameters of ViT, then `changes` as in fakes_core."""
    return small_params(VIT | (changes or {}))


def cells(*seeds: int, eps: Sequence[float] = (0.5,), method: str = "constrained") -> list[Cell]:
    """A cell for each seed (0 if none) and level."""
    return [Cell("video", DATASET, "vit", method, LAYERS, level, seed) for seed in seeds or (0,) for level in eps]


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
