"""Batches of noisy and clean video for a stack of cells: sequences of patches, or whole frames (section 5.1)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.components import load
from descent.schema import VideoBudget
from descent.tasks.video.data import Frames, Prepared, Sequences
from descent.tasks.video.losses import PatchLoss, denoising_losses
from descent.tasks.video.resident import Resident, gather, resident
from descent.training.arm import ranged
from descent.training.devices import compiled, free_memory
from descent.training.noise import DROPOUT, VALIDATION, drawn_levels, normals, perturb, seeded, sent

Inputs = Sequences | Frames
Split = Literal["train", "validation", "test"]


class Batch(NamedTuple):
    """Noisy and clean inputs in [0, 1], and the key of their random numbers; `training` switches dropout on."""

    noisy: Float[Tensor, "cells batch rows columns"]
    clean: Float[Tensor, "#cells batch rows columns"]
    key: tuple[int, ...]
    training: bool


class DenoisingTask(ABC):
    """Batches of (noisy, clean) inputs and the squared error of every layer's output.

    Cells of one seed see the same clean inputs and the same unit noise, scaled by their own eps; so do the
    cells of the other arms. A batch is a function of (seed, epoch, step) alone. Where the budget says so, a seed
    draws the clips too.
    """

    recordable: bool

    def __init__(
        self,
        prepared: Prepared,
        budget: VideoBudget,
        sigma: float,
        patch_loss: PatchLoss,
        device: torch.device,
        cells: Sequence[Cell],
    ) -> None:
        self.device, self.sigma, self.patch_loss = device, sigma, self.loss_of(patch_loss)
        self.compute = denoising_losses
        self.seeds = sorted({cell.seed for cell in cells})
        self.seed_of_cell = torch.tensor([self.seeds.index(cell.seed) for cell in cells], device=device)
        self.eps = torch.tensor([cell.eps for cell in cells], device=device)
        self.ranged = ranged(cells[0].arm)
        every = len(self.inputs(prepared, budget, "train"))
        drawn = min(every, budget.epoch_inputs or every)
        self.size = min(budget.batch, drawn)
        self.steps = drawn // self.size
        own = [prepared.drawn(seed) for seed in self.seeds] if budget.clips == "drawn" else [prepared]
        self.drawn = [self.inputs(one, budget, "train") for one in own]
        self.order: tuple[int, np.ndarray] = (-1, np.empty(0))
        held_out = [self.inputs(one, budget, "validation") for one in own]
        count = len(held_out[0])
        self.held_out = [
            self._noisy(
                torch.stack([one.gather(index) for one in held_out]),
                [(VALIDATION, int(index[0]))] * len(held_out),
                training=False,
            )
            for index in np.array_split(np.arange(count), -(-count // budget.batch))
        ]

    @cached_property
    def train(self) -> Sequence[Inputs | Resident]:
        """The training inputs of every seed; with the first batch their frames go to a GPU, as far as they fit."""
        own = resident(self.drawn, self.device, free_memory(self.device))
        return [*own] * (len(self.seeds) // len(own))

    @staticmethod
    @abstractmethod
    def inputs(prepared: Prepared, budget: VideoBudget, split: Split) -> Inputs:
        """What the models of this task see of a split: all of it in training, else as much as the budget says."""

    @staticmethod
    @abstractmethod
    def loss_of(patch_loss: PatchLoss) -> PatchLoss:
        """Whether f is the squared error summed over a patch's pixels, or the mean over all numbers."""

    def batch(self, epoch: int, step: int) -> Batch:
        """Inputs drawn without replacement within an epoch, again from the first where a seed drew fewer."""
        if self.order[0] != epoch:
            pairs = zip(self.seeds, self.train, strict=True)
            orders = [np.random.default_rng([seed, epoch]).permutation(len(own)) for seed, own in pairs]
            self.order = (epoch, np.stack([np.resize(order, self.steps * self.size) for order in orders]))
        chosen = self.order[1][:, step * self.size : (step + 1) * self.size]
        return self._noisy(gather(self.train, chosen), [(seed, epoch, step) for seed in self.seeds], training=True)

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation inputs, with the same noise in every epoch and for every seed."""
        return ((batch, batch.noisy.shape[1]) for batch in self.held_out)

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the squared error of each layer's output, from one forward."""
        return self.compute(model, batch.noisy, batch.clean, self.patch_loss)

    def compile(self, how: str) -> None:
        """All of it but dropout's seed: the noise is in the batch."""
        self.compute = compiled(denoising_losses, how)

    def _noisy(self, inputs: Tensor, keys: list[tuple[int, ...]], training: bool) -> Batch:
        """Pixels in [0, 1] and their noisy versions, from uint8 (seeds, batch, rows, columns)."""
        clean = sent(inputs, self.device).float() / 255
        unit = normals(keys, clean.shape[1:], self.device)
        level = self.eps
        if self.ranged and training:
            levels = torch.stack([drawn_levels(self.eps, key, clean.shape[1], self.device) for key in keys])
            level = levels[self.seed_of_cell, torch.arange(len(self.eps), device=self.device)]
        if len(keys) > 1:  # one clean batch a seed: hand each cell its own
            clean = clean[self.seed_of_cell]
            unit = unit[self.seed_of_cell]
        return Batch(perturb(clean, unit, level, self.sigma), clean, keys[0], training)


class SequenceTask(DenoisingTask):
    """Sequences of patches, each the consecutive ones at one place: what the unrolled models see."""

    recordable = True

    @staticmethod
    def inputs(prepared: Prepared, budget: VideoBudget, split: Split) -> Sequences:
        """All training sequences, and as many others as the budget says."""
        limits = {"validation": budget.validation_inputs, "test": budget.test_inputs}
        return prepared.sequences(split, budget.tokens, limit=limits.get(split))

    @staticmethod
    def loss_of(patch_loss: PatchLoss) -> PatchLoss:
        """As params.yaml says: the paper's R0 fits no other than the sum."""
        return patch_loss


class FrameTask(DenoisingTask):
    """Single frames; a model resizes the noisy and the clean ones itself, as its own processor does."""

    recordable = False  # dropout's seed is the step's own

    @staticmethod
    def inputs(prepared: Prepared, budget: VideoBudget, split: Split) -> Frames:
        """All training frames, and as many others as the budget says."""
        limits = {"validation": budget.validation_inputs, "test": budget.test_inputs}
        return prepared.whole(split, limit=limits.get(split))

    @staticmethod
    def loss_of(patch_loss: PatchLoss) -> PatchLoss:
        """The mean: a sum over the 768 entries of a patch on three channels could never reach the paper's R0."""
        return "mean"

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L, with dropout that follows the batch's key."""
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            return super().losses(model, batch)


BY_INPUTS: dict[str, type[DenoisingTask]] = {"patches": SequenceTask, "frames": FrameTask}


def task_of(model: str) -> type[DenoisingTask]:
    """What a model learns, by the INPUTS of its file."""
    return BY_INPUTS[load("models", model).INPUTS]
