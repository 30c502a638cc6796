"""The text task: texts as noisy word embeddings, one cross-entropy per layer (METHOD 4.3)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from descent.cells import Cell
from descent.config import Params
from descent.models.parts.text import Embedded
from descent.tasks.text.data import Texts, Tokens, batches, by_length
from descent.training.losses import text_losses
from descent.training.noise import DROPOUT, VALIDATION, embedding_scale, generator, perturb, seeded


class Batch(NamedTuple):
    """Texts and the key of their random numbers; `training` switches dropout on."""

    ids: Int64[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"]
    labels: Int64[Tensor, " batch"]
    key: tuple[int, ...]
    training: bool


class Classification:
    """Batches of texts of like length for a stack of cells of one seed.

    All cells see the same texts and, in models of one width, the same unit noise, scaled by their own eps; so do
    the cells of the other arm. A batch is a function of (seed, epoch, step) alone.
    """

    def __init__(self, params: Params, tokens: Tokens, device: torch.device, cells: Sequence[Cell]) -> None:
        (self.seed,) = {cell.seed for cell in cells}
        self.eps = torch.tensor([cell.eps for cell in cells], device=device)
        self.device, self.texts = device, tokens.split("train")
        self.size = min(getattr(params.budget.text, cells[0].model).batch, len(self.texts))
        self.pool = params.text.length_pool
        self.steps = len(self.texts) // self.size
        self.order: tuple[int, list[np.ndarray]] = (-1, [])
        self.scale = Scale(tokens.frequencies, device)
        held = tokens.split("validation")
        self.held_out = [
            gather(held, index, (VALIDATION, number), device)
            for number, index in enumerate(by_length(held.lengths, params.text.validation_batch))
        ]

    def batch(self, epoch: int, step: int) -> Batch:
        """Texts drawn without replacement within an epoch."""
        if self.order[0] != epoch:
            stream = np.random.default_rng([self.seed, epoch])
            order = stream.permutation(len(self.texts))
            self.order = (epoch, batches(self.texts.lengths, order, self.size, self.pool, stream))
        key = (self.seed, epoch, step)
        return gather(self.texts, self.order[1][step], key, self.device)._replace(training=True)

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation texts, with the same noise in every epoch and for every seed."""
        return ((batch, len(batch.labels)) for batch in self.held_out)

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the mean cross-entropy of each layer's output, from one forward."""
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            logits = noisy_logits(model, batch, unit_noise(model, batch), self.eps, self.scale(model))
        return text_losses(logits, batch.labels).mean(-1)


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


def gather(texts: Texts, index: np.ndarray, key: tuple[int, ...], device: torch.device) -> Batch:
    """The texts with these numbers on the device."""
    ids, lengths, labels = texts.gather(index)
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    return Batch(*(part.to(device, non_blocking=True) for part in (ids, mask, labels)), key, training=False)


def unit_noise(model: nn.Module, batch: Batch) -> Float[Tensor, "1 batch tokens width"]:
    """n of a batch: standard normal, by its key alone."""
    shape, device = (1, *batch.ids.shape, model.table.shape[-1]), batch.ids.device
    return torch.randn(shape, generator=generator(*batch.key, device=device), device=device)


def noisy_logits(
    model: nn.Module,
    batch: Batch,
    unit: Float[Tensor, "1 batch tokens width"],
    level: Float[Tensor, " cells"],
    sigma: Float[Tensor, "#cells"],
) -> Float[Tensor, "cells depth batch classes"]:
    """Every layer's logits at noise level * sigma on the word embeddings; the readout is one product."""
    noisy = perturb(model.embed(batch.ids), unit, level, sigma)
    return model.readout(torch.stack(model.states(Embedded(noisy, batch.mask)), dim=1))
