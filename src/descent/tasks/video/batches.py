"""Batches of noisy and clean video for a stack of cells: what the two tasks of video share (section 4)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.config import Params
from descent.tasks.video.data import Frames, Prepared, Sequences
from descent.training.losses import denoising_losses
from descent.training.noise import VALIDATION, generator, perturb

Inputs = Sequences | Frames
Split = Literal["train", "validation", "test"]
Batch = tuple[Float[Tensor, "cells batch rows columns"], Float[Tensor, "#cells batch rows columns"]]


class Noisy(ABC):
    """Batches of (noisy, clean) inputs, patch sequences or frames alike.

    Cells of one seed see the same clean inputs and the same unit noise, scaled by their own eps; so do the
    cells of the other arm. A batch is a function of (seed, epoch, step) alone.
    """

    def __init__(
        self,
        params: Params,
        prepared: Prepared,
        device: torch.device,
        cells: Sequence[Cell],
        batch: int,
        epoch: int | None,
    ) -> None:
        """Batches of `batch` inputs, `epoch` inputs an epoch (None: all)."""
        self.device, self.patch_loss, self.sigma = device, self.patch_loss_of(params), sigma(params, prepared)
        self.seeds = sorted({cell.seed for cell in cells})
        self.seed_of_cell = torch.tensor([self.seeds.index(cell.seed) for cell in cells], device=device)
        self.eps = torch.tensor([cell.eps for cell in cells], device=device)
        self.train = self.inputs(params, prepared, "train")
        drawn = min(len(self.train), epoch or len(self.train))
        self.size = min(batch, drawn)
        self.steps = drawn // self.size
        self.order: tuple[int, np.ndarray] = (-1, np.empty(0))
        held_out = self.inputs(params, prepared, "validation")
        self.held_out = [
            self._noisy(held_out.gather(index)[None], [(VALIDATION, int(index[0]))])
            for index in np.array_split(np.arange(len(held_out)), -(-len(held_out) // batch))
        ]

    @staticmethod
    @abstractmethod
    def inputs(params: Params, prepared: Prepared, split: Split) -> Inputs:
        """What the models of this task see of a split."""

    @staticmethod
    @abstractmethod
    def patch_loss_of(params: Params) -> Literal["sum", "mean"]:
        """Whether f is the squared error summed over a patch's pixels, or the mean over all numbers."""

    def batch(self, epoch: int, step: int) -> Batch:
        """Inputs drawn without replacement within an epoch."""
        if self.order[0] != epoch:
            orders = [np.random.default_rng([seed, epoch]).permutation(len(self.train)) for seed in self.seeds]
            self.order = (epoch, np.stack(orders))
        chosen = self.order[1][:, step * self.size : (step + 1) * self.size]
        clean = torch.stack([self.train.gather(index) for index in chosen])
        return self._noisy(clean, [(seed, epoch, step) for seed in self.seeds])

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation inputs, with the same noise in every epoch and for every seed."""
        return ((batch, batch[0].shape[1]) for batch in self.held_out)

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the squared error of each layer's output."""
        return denoising_losses(model, *batch, self.patch_loss)

    def _noisy(self, inputs: Tensor, keys: list[tuple[int, ...]]) -> Batch:
        """Pixels in [0, 1] and their noisy versions, from uint8 (seeds, batch, rows, columns)."""
        clean = inputs.to(self.device, non_blocking=True).float() / 255
        unit = torch.stack(
            [
                torch.randn(clean.shape[1:], generator=generator(*key, device=self.device), device=self.device)
                for key in keys
            ]
        )
        if len(keys) > 1:  # one clean batch a seed: hand each cell its own
            clean, unit = clean[self.seed_of_cell], unit[self.seed_of_cell]
        return perturb(clean, unit, self.eps, self.sigma), clean


def sigma(params: Params, prepared: Prepared) -> float:
    """The noise scale in [0, 1] units: the data set's own (the paper's words) or one number for all."""
    scale = params.video.noise_scale
    return prepared.sigma if scale == "dataset" else float(scale)
