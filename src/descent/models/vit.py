"""ViT as a denoiser (section 5.1): the library's own, every layer's tokens read as the patches of an image."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn.functional import interpolate
from transformers import ViTConfig, ViTModel

from descent.errors import UserError
from descent.models.parts.inputs import Pretrained, VideoInputs
from descent.models.parts.layers import dct
from descent.models.parts.pretrained import BODY, PretrainedBackbone, check, configuration, load, place
from descent.schema import Count, Schema, Share, VideoBudget
from descent.training.noise import WEIGHTS, seeded

LABEL = "ViT"
TASK = "video"
INPUTS = "frames"
CHANNELS = 3


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
    """Where a ViT comes from: exactly one of random, path (a local folder), hub."""

    random: Size | None = None


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


class Fold(nn.Module):
    """An image from tokens that are its patches, directly or through the fixed `unfolding`; nothing is learned."""

    def __init__(self, width: int, patch: int) -> None:
        super().__init__()
        self.patch = patch
        self.register_buffer("unfolding", unfolding(width, patch), persistent=False)

    def forward(self, tokens: Float[Tensor, "cells batch patches width"]) -> Float[Tensor, "cells batch 3 s s"]:
        """Patches are row-major in the image."""
        return fold(tokens if self.unfolding is None else tokens @ self.unfolding, self.patch)


def fold(patches: Float[Tensor, "*batch patches numbers"], patch: int) -> Float[Tensor, "*batch 3 s s"]:
    """An image from its patches, row-major; the numbers of a patch are in the order (channel, row, column)."""
    side = round(patches.shape[-2] ** 0.5)
    grid = patches.unflatten(-1, (CHANNELS, patch, patch)).unflatten(-4, (side, side))
    rows, columns, channel, row, column = (grid.dim() - 5 + axis for axis in range(5))
    order = (*range(grid.dim() - 5), channel, rows, row, columns, column)
    return grid.permute(order).flatten(-4, -3).flatten(-2, -1)


def unfolding(width: int, patch: int) -> Float[Tensor, "width numbers"] | None:
    """How a token stands for a patch of 3 * patch * patch numbers; None where it has as many: directly.

    Fixed and orthonormal, for the widths that the paper does not speak of. A narrower token holds the amplitudes
    of gray cosine waves, the slowest first, and then those of differences between channels: the frames are gray,
    so few numbers say much. Of a wider token the numbers beyond are not read.
    """
    numbers = CHANNELS * patch**2
    if width == numbers:
        return None
    if width > numbers:
        return torch.eye(width, numbers)
    waves = dct(patch**2, patch**2).mT  # (frequency, pixel)
    down = torch.arange(patch**2) // patch
    across = torch.arange(patch**2) % patch
    slowest_first = waves[(down + across).argsort(stable=True)]
    mixtures = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])
    mixtures = mixtures / torch.linalg.vector_norm(mixtures, dim=1, keepdim=True)
    return torch.kron(mixtures, slowest_first)[:width]


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
    return ViT(body.float(), settings.antialias)


def space(settings: Settings, budget: Budget, inputs: VideoInputs) -> Processor:
    """Where the model's answers lie: images of its own size, in [-1, 1].

    Raises:
        UserError: the weights' configuration cannot be read.
    """
    random = budget.weights.random
    size = random.image if random else configuration(budget.weights, inputs.local_data).image_size
    return Processor(size, settings.antialias)


def width(settings: Settings, budget: Budget, inputs: VideoInputs) -> None:
    """The size of a stack is not counted: the library's model takes one cell at a time."""


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
    config = configuration(budget.weights, inputs.local_data)
    where = place(budget.weights, inputs.local_data)[0]
    check(config, where, "vit", layers, "vit")
    image, patch = config.image_size, config.patch_size
    if not (isinstance(image, int) and isinstance(patch, int) and image % patch == 0):
        raise UserError(
            f"{where} reads images of {image} in patches of {patch} pixels: both should be squares, and the "
            "image's size a multiple of the patch's"
        )
    if config.num_channels != CHANNELS:
        raise UserError(f"{where} reads images of {config.num_channels} channels, not of {CHANNELS}")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = budget.dropout
    return config
