"""Texts as noisy word embeddings (section 4): what classification and instruction tuning have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from descent.cells import Cell
from descent.schema import TextBudget
from descent.tasks.text.data import Texts, batches, by_length
from descent.training.arm import ranged
from descent.training.devices import compiled
from descent.training.noise import VALIDATION, Stream, drawn_levels, embedding_scale, perturb


@runtime_checkable
class Tokenised(Protocol):
    """Texts in tokens, by split, and how often each token occurs in training."""

    frequencies: Int64[np.ndarray, " vocabulary"]

    def split(self, name: str) -> Texts:
        """The texts of `train`, `validation` or `test`."""


class EmbeddingTask(ABC):
    """Batches of texts of like length for a stack of cells of one seed, noise on their word embeddings.

    All cells see the same texts and, in models of one width, the same unit noise, scaled by their own eps; so do
    the cells of the other arms. A batch is a function of (seed, epoch, step) alone.
    """

    recordable = False  # dropout's seed is the step's own

    def __init__(
        self,
        data: Tokenised,
        budget: TextBudget,
        length_pool: int,
        validation_batch: int,
        device: torch.device,
        cells: Sequence[Cell],
    ) -> None:
        (self.seed,) = {cell.seed for cell in cells}
        self.eps = torch.tensor([cell.eps for cell in cells], device=device)
        self.ranged = ranged(cells[0].arm)
        self.device = device
        self.texts = data.split("train")
        self.size = min(budget.batch, len(self.texts))
        self.pool = length_pool
        self.steps = len(self.texts) // self.size
        self.order: tuple[int, list[np.ndarray]] = (-1, [])
        self.scale = Scale(data.frequencies, device)
        self.width = 0  # of the embeddings, which the first batch tells
        held = data.split("validation")
        self.held_out = [
            self.gather(held, index, (VALIDATION, number), device)
            for number, index in enumerate(by_length(held.lengths, validation_batch))
        ]

    @staticmethod
    @abstractmethod
    def gather(texts: Texts, index: np.ndarray, key: tuple[int, ...], device: torch.device) -> Any:
        """The texts with these numbers as a batch on the device, not for training."""

    @staticmethod
    @abstractmethod
    def weight(batch: Any) -> int:
        """What a validation batch weighs in the mean."""

    @staticmethod
    @abstractmethod
    def compute(model: nn.Module, noisy: Any) -> Any:
        """What a model makes of noisy embeddings."""

    def compile(self, how: str) -> None:
        """The model, neither the noise before it nor the losses after it; as `kernels`, whatever is asked: texts
        differ in length, and each length would be a graph of its own."""
        self.compute = compiled(type(self).compute, "kernels")

    @abstractmethod
    def losses(self, model: nn.Module, batch: Any) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L of every cell."""

    def batch(self, epoch: int, step: int) -> Any:
        """Texts drawn without replacement within a pass. Once a first batch has told the width, their unit noise
        comes with them: for a GPU both are drawn beside the steps."""
        if self.order[0] != epoch:
            stream = np.random.default_rng([self.seed, epoch])
            order = stream.permutation(len(self.texts))
            self.order = (epoch, batches(self.texts.lengths, order, self.size, self.pool, stream))
        key = (self.seed, epoch, step)
        batch = self.gather(self.texts, self.order[1][step], key, self.device)._replace(training=True)
        return batch._replace(unit=self.unit(batch)) if self.width else batch

    def unit(self, batch: Any) -> Float[Tensor, "1 batch tokens width"]:
        """The unit noise of a batch, which follows its key alone."""
        return Stream(*batch.key, device=self.device).normal(1, *batch.ids.shape, self.width)

    def noisy(self, model: nn.Module, batch: Any) -> Float[Tensor, "cells batch tokens width"]:
        """The word embeddings of a batch at noise level * sigma."""
        clean = model.embed(batch.ids)
        self.width = clean.shape[-1]
        unit = self.unit(batch) if batch.unit is None else batch.unit
        return perturb(clean, unit, self.levels(batch), self.scale(model))

    def levels(self, batch: Any) -> Float[Tensor, "#cells *each"]:
        """eps, or in training one from [0, eps] for every text, as the arm says."""
        if self.ranged and batch.training:
            return drawn_levels(self.eps, batch.key, len(batch.ids), self.device)
        return self.eps

    def validation(self) -> Iterable[tuple[Any, int]]:
        """All validation texts, with the same noise in every epoch and for every seed."""
        return ((batch, self.weight(batch)) for batch in self.held_out)


class Scale:
    """sigma of a model on a data set, one a cell; measured again whenever the embeddings may have moved."""

    def __init__(self, frequencies: Int64[np.ndarray, " vocabulary"], device: torch.device) -> None:
        counts = torch.from_numpy(frequencies).to(device)
        self.frequencies = counts.float() / counts.sum()
        self.known: Float[Tensor, " cells"] | None = None  # of frozen embeddings

    def __call__(self, model: nn.Module) -> Float[Tensor, "#cells"]:
        if self.known is not None:
            return self.known
        sigma = embedding_scale(model.table, self.frequencies)
        self.known = None if model.table.requires_grad else sigma
        return sigma
