"""ViT as a denoiser (section 5.1): the library's own, every layer's tokens read as the patches of an image."""

import math
from collections.abc import Sequence
from copy import deepcopy

import torch
from jaxtyping import Float
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn.functional import interpolate
from transformers import ViTConfig, ViTModel

from descent.errors import UserError
from descent.models.parts.inputs import Pretrained, VideoInputs
from descent.models.parts.patches import CHANNELS, Fold
from descent.models.parts.pretrained import BODY, PretrainedBackbone, checked, configuration, load
from descent.schema import Count, Schema, Share, VideoBudget
from descent.training.noise import WEIGHTS, seeded

LABEL = "ViT"
TASK = "video"
INPUTS = "frames"


class Settings(Schema):
    """Whether the processor's resize averages where a frame shrinks."""

    antialias: bool


class Size(Schema):
    """A ViT with random weights."""

    image: Count
    patch: Count
    width: Count
    heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole(self) -> "Size":
        if self.image % self.patch:
            raise ValueError(f"image {self.image} is not a multiple of patch {self.patch}")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self


class Weights(Pretrained):
    """Where a ViT comes from: exactly one of random, path (a local folder), hub.

    `image` shows a pretrained one images of another side than its own, its positions interpolated.
    """

    CHOICES = ("path", "hub", "random")

    random: Size | None = None
    image: Count | None = None

    @model_validator(mode="after")
    def _own_image(self) -> "Weights":
        if self.random is not None and self.image is not None:
            raise ValueError("random weights have their image in random.image; drop image")
        return self


class Budget(VideoBudget):
    """Beside what every video model has, the weights; a pretrained model must have as many layers."""

    weights: Weights
    dropout: Share


class Processor(nn.Module):
    """ViT's image processor: gray frames in [0, 1] on three channels, resized, normalised to [-1, 1].

    The library's rounds to whole gray levels after resizing; here noise beyond black and white, and fractions of a
    level, are kept. It is also the space in which ViT's errors are measured, of reference maps too.
    """

    legal = (-1.0, 1.0)

    def __init__(self, size: int, antialias: bool) -> None:
        super().__init__()
        self.size, self.antialias = size, antialias

    def target(self, clean: Float[Tensor, "#cells batch rows columns"]) -> Float[Tensor, "#cells batch 3 s s"]:
        """Frames as the model would be shown them, which its readout is compared with."""
        size = (self.size, self.size)
        small = interpolate(clean.float(), size, mode="bilinear", align_corners=False, antialias=self.antialias)
        return (2 * small - 1).unsqueeze(2).expand(-1, -1, CHANNELS, -1, -1)

    def pictures(self, answers: Float[Tensor, "cells batch 3 s s"]) -> Float[Tensor, "cells batch s s"]:
        """Answers as gray pictures in [0, 1], clipped; the channels of one are averaged."""
        return (answers.clamp(*self.legal).mean(2) + 1) / 2


class ViT(PretrainedBackbone):
    """One cell; gray frames come in, images in [-1, 1] of the model's own size go out.

    X_0 is the embedding block's output (patches and positions), X_l that of layer l: the final LayerNorm and the
    classifier are left away, the [CLS] token takes part and is not read.
    """

    legal = Processor.legal

    def __init__(self, body: ViTModel, antialias: bool) -> None:
        body.layernorm = nn.Identity()  # no layer's output passes through it
        super().__init__(body)
        config = body.config
        self.processor = Processor(config.image_size, antialias)
        self.head = Fold(config.hidden_size, config.patch_size)

    def target(self, clean: Float[Tensor, "#cells batch rows columns"]) -> Float[Tensor, "#cells batch 3 s s"]:
        """The clean frames as the model would be shown them, which its readout is compared with."""
        return self.processor.target(clean)

    def pictures(self, answers: Float[Tensor, "cells batch 3 s s"]) -> Float[Tensor, "cells batch s s"]:
        """Answers as gray pictures in [0, 1]."""
        return self.processor.pictures(answers)

    def states(self, noisy: Float[Tensor, "1 batch rows columns"]) -> list[Float[Tensor, "1 batch patches width"]]:
        """X_0 ... X_L without the [CLS] token."""
        pixels = self.processor.target(noisy).squeeze(0)  # noise is resized with the frame: it is on the video
        return [state[None, :, 1:] for state in self.hidden_states(pixel_values=pixels)]

    def readout(self, state: Float[Tensor, "1 batch patches width"]) -> Float[Tensor, "1 batch 3 s s"]:
        """The image of one layer."""
        return self.head(state)


def build(settings: Settings, budget: Budget, inputs: VideoInputs, layers: int, seeds: Sequence[int]) -> ViT:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, or are of another architecture, depth or kind of image.
    """
    (seed,) = seeds
    with seeded(WEIGHTS, seed, BODY):
        if budget.weights.random is not None:
            body = ViTModel(_random(budget, layers), add_pooling_layer=False)
        else:
            config = _checked(budget, inputs, layers)
            body = load(ViTModel, budget.weights, inputs.local_data, config, add_pooling_layer=False)
            body = _resized(body, budget.weights.image or config.image_size)
    return ViT(body.float(), settings.antialias)


def _resized(body: ViTModel, image: int) -> ViTModel:
    """The same weights for images of another side; positions lie between their own (bicubic, as the library's)."""
    if image == body.config.image_size:
        return body
    config = deepcopy(body.config)
    config.image_size = image
    weights, name = body.state_dict(), "embeddings.position_embeddings"
    places = weights[name]
    side, wanted = math.isqrt(places.shape[1] - 1), image // config.patch_size
    grid = places[:, 1:].mT.unflatten(2, (side, side))
    grid = interpolate(grid, (wanted, wanted), mode="bicubic", align_corners=False)
    weights[name] = torch.cat([places[:, :1], grid.flatten(2).mT], dim=1)  # [CLS] has the first
    found = ViTModel(config, add_pooling_layer=False)
    found.load_state_dict(weights)
    return found


def space(settings: Settings, budget: Budget, inputs: VideoInputs) -> Processor:
    """Where the model's answers lie: images of its own size, in [-1, 1].

    Raises:
        UserError: the weights' configuration cannot be read.
    """
    weights = budget.weights
    size = weights.random.image if weights.random else weights.image
    return Processor(size or configuration(weights, inputs.local_data).image_size, settings.antialias)


def _random(budget: Budget, layers: int) -> ViTConfig:
    size = budget.weights.random
    return ViTConfig(
        image_size=size.image,
        patch_size=size.patch,
        hidden_size=size.width,
        num_hidden_layers=layers,
        num_attention_heads=size.heads,
        intermediate_size=size.feedforward,
        hidden_dropout_prob=budget.dropout,
        attention_probs_dropout_prob=budget.dropout,
    )


def _checked(budget: Budget, inputs: VideoInputs, layers: int) -> ViTConfig:
    config, where = checked(budget.weights, inputs.local_data, "vit", layers, "vit")
    image, patch = config.image_size, config.patch_size
    if not (isinstance(image, int) and isinstance(patch, int) and image % patch == 0):
        raise UserError(
            f"{where} reads images of {image} in patches of {patch} pixels: both should be squares, and the "
            "image's size a multiple of the patch's"
        )
    if config.num_channels != CHANNELS:
        raise UserError(f"{where} reads images of {config.num_channels} channels, not of {CHANNELS}")
    if (budget.weights.image or image) % patch:
        raise UserError(f"{where} reads patches of {patch} pixels: make weights.image a multiple of it")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = budget.dropout
    return config
