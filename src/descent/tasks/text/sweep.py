"""Text out of distribution: every layer's accuracy and loss over a sweep of the levels of a shift."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from descent.models.parts.text import Embedded
from descent.tasks.common.shifted import Shifted
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.text.batches import Batch, ClassificationTask, layer_logits
from descent.tasks.text.data import Texts, Tokens, by_length
from descent.tasks.text.embeddings import Scale
from descent.tasks.text.losses import text_losses
from descent.tasks.text.words import words
from descent.training.noise import TEST, Stream

TINY = 1e-7  # nats: below it a text's loss is rounding, and a ratio of two such losses is taken for 1


@dataclass(frozen=True)
class TextSweep:
    """Scores of a stack of cells on test texts: means over texts and draws, and what is kept of single texts."""

    loss: Float[np.ndarray, "gammas cells depth"]
    accuracy: Float[np.ndarray, "gammas cells depth"]
    hits: Bool[np.ndarray, "gammas cells draws texts"]  # whether the last layer is right
    # f_l at the cell's own level, gamma = eps; None where a cell's is none of the levels
    own: Float[np.ndarray, "cells depth draws texts"] | None

    def ratios(self, cell: int) -> Float[np.ndarray, "layers draws texts"]:
        """f(X_l) / f(X_{l-1}) of every text at gamma = eps, which must be one of the levels."""
        f = self.own[cell].clip(min=TINY)
        return f[1:] / f[:-1]


class Seen(NamedTuple):
    """What the models read at a level: word embeddings, and the batch whose they are."""

    vectors: Float[Tensor, "cells batch tokens width"]
    batch: Batch


@torch.no_grad()
def sweep(
    model: nn.Module,
    tokens: Tokens,
    gammas: Sequence[float],
    apply: Shifted,
    eps: Sequence[float],
    how: Sweeping,
    split: str = "test",
) -> TextSweep:
    """Evaluate a stack on all test texts at every noise level.

    Common random numbers: the unit noise depends on the batch and the draw alone, so it is the same for all
    levels, arms and, at one width, models. Each batch is encoded once a level; all layers are read from that.

    Args:
        gammas: the levels of the shift.
        apply: clean embeddings, a level a cell, the batch's random numbers and sigma give the noisy ones.
        eps: each cell's own training level; where it is none of the gammas, single texts are not kept.
        split: of the tokens, whose texts are the test.
    """
    settings, device = how.settings, how.device
    texts = tokens.split(split)
    sigma = Scale(tokens.frequencies, device)(model)
    told = (split, tokens.folder, tokens.max_tokens, apply, settings.seed)
    texts_at = words(*told).shifted if apply.sees == "words" else None
    levels = torch.tensor(gammas, device=device)[:, None].expand(-1, len(eps))
    own = [gammas.index(level) for level in eps] if set(eps) <= set(gammas) else None
    loss, accuracy = 0.0, 0.0
    hits = np.zeros((len(gammas), len(eps), settings.noise_draws, len(texts)), bool)
    own_losses = []
    order = by_length(texts.lengths, settings.batch)
    for number, index in enumerate(order):
        for draw in range(settings.noise_draws):
            batch = ClassificationTask.gather(texts, index, (TEST, settings.seed, number, draw), device)
            if texts_at is None:
                seen = _noisy(model, batch, levels, apply, sigma)
            else:
                versions = (texts_at(texts, index, level, draw) for level in gammas)
                seen = (_of_text(model, version, batch.key, len(eps), device) for version in versions)
            f, right = _at_levels(model, seen)
            loss = loss + f.double().sum(-1)
            accuracy = accuracy + right.double().sum(-1)
            hits[:, :, draw, index] = right[:, :, -1].cpu().numpy()
            if own is not None:
                own_losses.append(f[own, range(len(eps))].float().cpu().numpy())
        how.progress(len(index) * len(eps))
    count = len(texts) * settings.noise_draws
    return TextSweep(
        loss=(loss / count).cpu().numpy(),
        accuracy=(accuracy / count).cpu().numpy(),
        hits=hits,
        own=_in_order(own_losses, order, texts) if own_losses else None,
    )


def _noisy(
    model: nn.Module,
    batch: Batch,
    levels: Float[Tensor, "gammas cells"],
    apply: Shifted,
    sigma: Float[Tensor, "#cells"],
) -> Iterator[Seen]:
    """The batch at every level, its embeddings read once and with one noise for all."""
    stream = Stream(*batch.key, device=batch.ids.device)
    clean = model.embed(batch.ids)

    def loss(inputs: Tensor) -> Tensor:
        last = layer_logits(model, Embedded(inputs, batch.mask))[:, -1:]
        return text_losses(last, batch.labels).sum()

    told = apply.told(clean, batch.mask, levels.shape[1], loss)
    return (Seen(apply(clean, level, stream, sigma, **told), batch) for level in levels)


def _of_text(model: nn.Module, texts: Texts, key: tuple[int, ...], cells: int, device: torch.device) -> Seen:
    """The clean embeddings of other texts."""
    batch = ClassificationTask.gather(texts, np.arange(len(texts)), key, device)
    return Seen(model.embed(batch.ids).expand(cells, -1, -1, -1), batch)


def _at_levels(
    model: nn.Module, seen: Iterable[Seen]
) -> tuple[Float[Tensor, "gammas cells depth batch"], Bool[Tensor, "gammas cells depth batch"]]:
    """The loss of every layer on every text, and whether its output is right."""
    f, right = [], []
    for vectors, batch in seen:
        logits = layer_logits(model, Embedded(vectors, batch.mask))
        f.append(text_losses(logits, batch.labels))
        right.append(logits.argmax(-1) == batch.labels)
    return torch.stack(f), torch.stack(right)


def _in_order(
    parts: Sequence[Float[np.ndarray, "cells depth _"]], order: Sequence[np.ndarray], texts: Texts
) -> Float[np.ndarray, "cells depth draws texts"]:
    """What came batch by batch, all draws of one before the next, by text."""
    draws = len(parts) // len(order)
    whole = np.empty((*parts[0].shape[:2], draws, len(texts)), np.float32)
    for place, part in enumerate(parts):
        whole[:, :, place % draws, order[place // draws]] = part
    return whole
