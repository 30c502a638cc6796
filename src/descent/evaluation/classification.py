"""Text out of distribution: every layer's accuracy and loss over a sweep of test noise levels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.datasets.text import Tokens, by_length
from descent.objectives import text_losses
from descent.perturbations import TEST
from descent.schema import Evaluation
from descent.training.classification import Scale, gather, noisy_logits, unit_noise

TINY = 1e-7  # nats: below it a text's loss is rounding, and a ratio of two such losses is taken for 1


@dataclass(frozen=True)
class TextSweep:
    """Scores of a stack of cells on test texts; means over texts and noise draws."""

    loss: Float[np.ndarray, "gammas cells depth"]
    accuracy: Float[np.ndarray, "gammas cells depth"]
    ratios: list[Float[np.ndarray, " ratios"]]  # of each cell at gamma = eps: f(X_l) / f(X_{l-1}) of every text


@torch.no_grad()
def sweep(
    model: nn.Module,
    tokens: Tokens,
    gammas: Sequence[float],
    eps: Sequence[float],
    settings: Evaluation,
    device: torch.device,
    tell: Callable[[int], Any] = lambda count: None,
) -> TextSweep:
    """Evaluate a stack on all test texts at every noise level.

    Common random numbers: the unit noise depends on the batch and the draw alone, so it is the same for all
    levels, arms and, at one width, models. Each batch is encoded once a level; all layers are read from that.

    Args:
        gammas: test noise levels.
        eps: each cell's own training level, one of gammas.
        tell: called with the number of texts done, times cells.
    """
    texts, sigma = tokens.split("test"), Scale(tokens.frequencies, device)(model)
    levels = torch.tensor(gammas, device=device)[:, None].expand(-1, len(eps))
    own = [gammas.index(level) for level in eps]
    loss, accuracy, ratios = 0.0, 0.0, [[] for _ in eps]
    for number, index in enumerate(by_length(texts.lengths, settings.batch)):
        for draw in range(settings.noise_draws):
            batch = gather(texts, index, (TEST, settings.seed, number, draw), device)
            unit, f, hits = unit_noise(model, batch), [], []
            for place, level in enumerate(levels):
                logits = noisy_logits(model, batch, unit, level, sigma)
                each = text_losses(logits, batch.labels)
                f.append(each.double().sum(-1))
                hits.append((logits.argmax(-1) == batch.labels).double().sum(-1))
                for cell, at in enumerate(own):
                    if at == place:
                        ratios[cell].append(_ratios(each[cell]))
            loss, accuracy = loss + torch.stack(f), accuracy + torch.stack(hits)
        tell(len(index) * len(eps))
    count = len(texts) * settings.noise_draws
    return TextSweep(
        (loss / count).cpu().numpy(), (accuracy / count).cpu().numpy(), [np.concatenate(parts) for parts in ratios]
    )


def _ratios(f: Float[Tensor, "depth batch"]) -> Float[np.ndarray, " ratios"]:
    f = f.clamp(min=TINY)
    return (f[1:] / f[:-1]).flatten().cpu().numpy()
