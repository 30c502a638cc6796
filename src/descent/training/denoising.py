"""The video task: patch sequences with noise, one squared error per layer (section 4)."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.datasets.video import Prepared
from descent.objectives import denoising_losses
from descent.params import Params
from descent.perturbations import VALIDATION, generator, perturb

Batch = tuple[Float[Tensor, "cells batch tokens pixels"], Float[Tensor, "#cells batch tokens pixels"]]


class Denoising:
    """Batches of (noisy, clean) patch sequences for a stack of cells.

    Cells of one seed see the same clean sequences and the same unit noise, scaled by their own eps; so do
    the cells of the other arm. A batch is a function of (seed, epoch, step) alone.
    """

    def __init__(self, params: Params, prepared: Prepared, device: torch.device, cells: Sequence[Cell]) -> None:
        budget = params.budget.video
        self.device, self.patch_loss, self.sigma = device, params.video.patch_loss, sigma(params, prepared)
        self.seeds = sorted({cell.seed for cell in cells})
        self.seed_of_cell = torch.tensor([self.seeds.index(cell.seed) for cell in cells], device=device)
        self.eps = torch.tensor([cell.eps for cell in cells], device=device)
        self.sequences = prepared.sequences("train", budget.tokens)
        drawn = min(len(self.sequences), budget.epoch_sequences or len(self.sequences))
        self.size = min(budget.batch, drawn)
        self.steps = drawn // self.size
        self.order: tuple[int, np.ndarray] = (-1, np.empty(0))
        held_out = prepared.sequences("validation", budget.tokens, limit=budget.validation_sequences)
        self.held_out = [
            self._noisy(held_out.gather(index)[None], [(VALIDATION, int(index[0]))])
            for index in np.array_split(np.arange(len(held_out)), -(-len(held_out) // budget.batch))
        ]

    def batch(self, epoch: int, step: int) -> Batch:
        """Sequences drawn without replacement within an epoch."""
        if self.order[0] != epoch:
            orders = [np.random.default_rng([seed, epoch]).permutation(len(self.sequences)) for seed in self.seeds]
            self.order = (epoch, np.stack(orders))
        chosen = self.order[1][:, step * self.size : (step + 1) * self.size]
        clean = torch.stack([self.sequences.gather(index) for index in chosen])
        return self._noisy(clean, [(seed, epoch, step) for seed in self.seeds])

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation sequences, with the same noise in every epoch and for every seed."""
        return ((batch, batch[0].shape[1]) for batch in self.held_out)

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the squared error of each layer's output."""
        return denoising_losses(model, *batch, self.patch_loss)

    def _noisy(self, frames: Tensor, keys: list[tuple[int, ...]]) -> Batch:
        """Pixels in [0, 1] and their noisy versions, from uint8 (seeds, batch, tokens, pixels)."""
        clean = frames.to(self.device, non_blocking=True).float() / 255
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
