"""Batches of texts and their labels, and the cross-entropy of every layer's output (section 5.2)."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn.functional import pad

from descent.models.parts.text import Embedded
from descent.tasks.text.data import Texts
from descent.tasks.text.embeddings import EmbeddingTask
from descent.tasks.text.losses import text_losses
from descent.training.devices import compiled
from descent.training.noise import DROPOUT, seeded, sent

BUCKET = 32  # tokens: where each length would be a graph of its own, lengths are its multiples


class Batch(NamedTuple):
    """Texts and the key of their random numbers; `training` switches dropout on."""

    ids: Int64[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"]
    labels: Int64[Tensor, " batch"]
    key: tuple[int, ...]
    training: bool
    unit: Float[Tensor, "1 batch tokens width"] | None = None  # noise that was drawn with the batch


class ClassificationTask(EmbeddingTask):
    """The label of a text, from every layer."""

    def compile(self, how: str) -> None:
        """The model; as `graphs` one for all batches of a bucket, padded to one length behind their noise."""
        made = compiled(type(self).compute, how)
        self.compute = made
        if how == "graphs":
            longest = max(batch.ids.shape[1] for batch in self.held_out)
            longest = max(longest, int(self.texts.lengths.max()))
            self.compute = lambda model, noisy: made(model, bucketed(noisy, longest))

    @staticmethod
    def gather(texts: Texts, index: np.ndarray, key: tuple[int, ...], device: torch.device) -> Batch:
        """The texts with these numbers on the device."""
        ids, lengths, labels = texts.gather(index)
        mask = torch.arange(ids.shape[1]) < lengths[:, None]
        return Batch(*(sent(part, device) for part in (ids, mask, labels)), key, training=False)

    @staticmethod
    def compute(model: nn.Module, noisy: Embedded) -> Float[Tensor, "cells depth batch classes"]:
        """The logits."""
        return layer_logits(model, noisy)

    @staticmethod
    def weight(batch: Batch) -> int:
        """Its texts."""
        return len(batch.labels)

    def losses(self, model: nn.Module, batch: Batch) -> Float[Tensor, "cells depth"]:
        """f_0 ... f_L: the mean cross-entropy of each layer's output, from one forward."""
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            noisy = self.noisy(model, batch)
            logits = self.compute(model, Embedded(noisy, batch.mask))
        return text_losses(logits, batch.labels).mean(-1)


def bucketed(noisy: Embedded, longest: int) -> Embedded:
    """Texts padded to a multiple of BUCKET tokens, but to at most `longest`: an encoder has so many places."""
    tokens = noisy.mask.shape[1]
    more = min(-(-tokens // BUCKET) * BUCKET, longest) - tokens
    return Embedded(pad(noisy.vectors, (0, 0, 0, more)), pad(noisy.mask, (0, more)))


def layer_logits(model: nn.Module, noisy: Embedded) -> Float[Tensor, "cells depth batch classes"]:
    """Every layer's logits; the readout is one product."""
    return model.readout(torch.stack(model.states(noisy), dim=1))
