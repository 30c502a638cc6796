"""ViT as a denoiser (METHOD 3.4): the library's own, every layer's tokens read as the patches of an image."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import interpolate
from transformers import ViTConfig, ViTModel

from descent.cells import Cell
from descent.config import Params
from descent.errors import UserError
from descent.models.parts.layers import dct
from descent.models.parts.pretrained import BODY, Borrowed, check, configuration, load, place
from descent.tasks.video.schema import ViTBudget
from descent.training.noise import WEIGHTS, seeded

SECTION = "profiles.<profile>.video.vit"
CHANNELS = 3


class ViT(Borrowed):
    """One cell; gray frames come in, images in [-1, 1] of the model's own size go out.

    X_0 is the embedding block's output (patches and positions), X_l that of layer l: the final LayerNorm and the
    classifier are left away, the [CLS] token takes part and is not read.
    """

    legal = (-1.0, 1.0)

    def __init__(self, body: ViTModel, antialias: bool) -> None:
        body.layernorm = nn.Identity()  # no layer's output passes through it
        super().__init__(body)
        config = body.config
        self.size, self.antialias = config.image_size, antialias
        self.head = Fold(config.hidden_size, config.patch_size)

    def target(self, clean: Float[Tensor, "#cells batch rows columns"]) -> Float[Tensor, "#cells batch 3 s s"]:
        """The clean frames as the model would be shown them, which its readout is compared with."""
        return self.process(clean)

    def process(self, frames: Float[Tensor, "cells batch rows columns"]) -> Float[Tensor, "cells batch 3 s s"]:
        """ViT's image processor: gray frames in [0, 1] on three channels, resized, normalised to [-1, 1].

        The library's rounds to whole gray levels after resizing; here noise beyond black and white, and fractions
        of a level, are kept.
        """
        size = (self.size, self.size)
        small = interpolate(frames.float(), size, mode="bilinear", align_corners=False, antialias=self.antialias)
        return (2 * small - 1).unsqueeze(2).expand(-1, -1, CHANNELS, -1, -1)

    def states(self, noisy: Float[Tensor, "1 batch rows columns"]) -> list[Float[Tensor, "1 batch patches width"]]:
        """X_0 ... X_L without the [CLS] token."""
        return [state[None, :, 1:] for state in self.hidden_states(pixel_values=self.process(noisy).squeeze(0))]

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
    down, across = torch.arange(patch**2) // patch, torch.arange(patch**2) % patch
    slowest_first = waves[(down + across).argsort(stable=True)]
    mixtures = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])
    mixtures = mixtures / torch.linalg.vector_norm(mixtures, dim=1, keepdim=True)
    return torch.kron(mixtures, slowest_first)[:width]


def build(params: Params, cells: Sequence[Cell]) -> ViT:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, or are of another architecture, depth or kind of image.
    """
    (cell,) = cells
    budget = params.budget.video.vit
    with seeded(WEIGHTS, cell.seed, BODY):
        if budget.weights.random is not None:
            body = ViTModel(random_configuration(budget), add_pooling_layer=False)
        else:
            body = _pretrained(budget, params.local_data)
    return ViT(body.float(), params.models.vit.antialias)


def width(params: Params) -> None:
    """The size of a stack is not counted: the library's model takes one cell at a time."""


def random_configuration(budget: ViTBudget) -> ViTConfig:
    """The library's configuration of a ViT of the asked size."""
    size = budget.weights.random
    return ViTConfig(
        image_size=size.image,
        patch_size=size.patch,
        hidden_size=size.width,
        num_hidden_layers=budget.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.feedforward,
        hidden_dropout_prob=budget.dropout,
        attention_probs_dropout_prob=budget.dropout,
    )


def _pretrained(budget: ViTBudget, local_data: str) -> ViTModel:
    config, where = configuration(budget.weights, local_data), place(budget.weights, local_data)[0]
    check(config, where, "vit", budget.layers, SECTION)
    image, patch = config.image_size, config.patch_size
    if not (isinstance(image, int) and isinstance(patch, int) and image % patch == 0):
        raise UserError(
            f"{where} reads images of {image} in patches of {patch} pixels: both should be squares, and the "
            "image's size a multiple of the patch's"
        )
    if config.num_channels != CHANNELS:
        raise UserError(f"{where} reads images of {config.num_channels} channels, not of {CHANNELS}")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = budget.dropout
    return load(ViTModel, budget.weights, local_data, config, add_pooling_layer=False)
