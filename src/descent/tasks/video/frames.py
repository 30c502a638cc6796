"""The task of ViT: whole noisy frames, the mean squared error of an entry (METHOD 3.4)."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.config import Params
from descent.tasks.video.batches import Noisy, Split
from descent.tasks.video.data import Frames, Prepared
from descent.training.noise import DROPOUT, VALIDATION, seeded


class Batch(NamedTuple):
    """Gray frames in [0, 1] and the key of the dropout's random numbers; `training` switches dropout on."""

    noisy: Float[Tensor, "cells batch rows columns"]
    clean: Float[Tensor, "#cells batch rows columns"]
    key: tuple[int, ...]
    training: bool


class FrameDenoising(Noisy):
    """Single frames; a model resizes the noisy and the clean ones itself, as its own processor does."""

    def __init__(self, params: Params, prepared: Prepared, device: torch.device, cells: Sequence[Cell]) -> None:
        (self.seed,) = {cell.seed for cell in cells}
        budget = params.budget.video.vit
        super().__init__(params, prepared, device, cells, budget.batch, budget.epoch_frames)

    @staticmethod
    def inputs(params: Params, prepared: Prepared, split: Split) -> Frames:
        """All training frames, and as many others as the profile asks for."""
        budget = params.budget.video.vit
        limits = {"validation": budget.validation_frames, "test": budget.test_frames}
        return prepared.whole(split, limit=limits.get(split))

    @staticmethod
    def patch_loss_of(params: Params) -> Literal["sum", "mean"]:
        """The mean: a sum over 768 entries could never reach the paper's R0 for ViT."""
        return "mean"

    def batch(self, epoch: int, step: int) -> Batch:
        """Frames drawn without replacement within an epoch."""
        return Batch(*super().batch(epoch, step), (self.seed, epoch, step), training=True)

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation frames, with the same noise in every epoch and for every seed."""
        return ((Batch(*pair, (VALIDATION,), training=False), size) for pair, size in super().validation())

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the squared error of each layer's output, from one forward."""
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            return super().losses(model, (batch.noisy, batch.clean))
