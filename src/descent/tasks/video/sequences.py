"""The task of the unrolled models: patch sequences with noise, the squared error of a patch (METHOD 1.6)."""

from collections.abc import Sequence
from typing import Literal

import torch

from descent.cells import Cell
from descent.config import Params
from descent.tasks.video.batches import Noisy, Split
from descent.tasks.video.data import Prepared, Sequences


class Denoising(Noisy):
    """Sequences of patches, each the consecutive ones at one place."""

    def __init__(self, params: Params, prepared: Prepared, device: torch.device, cells: Sequence[Cell]) -> None:
        budget = params.budget.video
        super().__init__(params, prepared, device, cells, budget.batch, budget.epoch_sequences)

    @staticmethod
    def inputs(params: Params, prepared: Prepared, split: Split) -> Sequences:
        """All training sequences, and as many others as the profile asks for."""
        budget = params.budget.video
        limits = {"validation": budget.validation_sequences, "test": budget.test_sequences}
        return prepared.sequences(split, budget.tokens, limit=limits.get(split))

    @staticmethod
    def patch_loss_of(params: Params) -> Literal["sum", "mean"]:
        """As params.yaml says: the paper's R0 fits no other than the sum."""
        return params.video.patch_loss
