"""The language model on test instructions: every layer's loss and token accuracy over a sweep of noise levels."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import nn

from descent.analysis import replicates
from descent.cells import Cell
from descent.config import Params
from descent.models.causal_lm import CausalLM
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Row, Scoring
from descent.schema import Evaluation, PrimalDual
from descent.tasks.lm.batches import gather, noisy_states, unit_noise
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.losses import layer_hits
from descent.tasks.text.batches import Scale
from descent.tasks.text.data import by_length
from descent.training.devices import autocast
from descent.training.noise import TEST


def gammas(params: Params) -> list[float]:
    """The test levels: the sweep and the training level."""
    return sorted({*map(float, params.lm.evaluation.gammas), float(params.lm.eps)})


def scoring(params: Params, data: Instructions, item: Item) -> Scoring:
    """How the cells of an arm are scored."""
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, data, item.device),
        problem=partial(_problem, params),
        definition={
            "evaluation": params.lm.evaluation.model_dump(),
            "tolerance": params.lm.tolerance,
            "code": digest([__name__]),
        },
        elements=None,
        inputs=len(data.split("test")),
    )


def _problem(params: Params, cell: Cell) -> PrimalDual:
    return params.lm_constraints()


@dataclass(frozen=True)
class InstructionSweep:
    """Scores of one cell on every test instruction: means over the tokens of its response and noise draws."""

    loss: Float[np.ndarray, "gammas depth texts"]
    accuracy: Float[np.ndarray, "gammas depth texts"]
    sizes: Int64[np.ndarray, " texts"]  # the tokens of each response


@torch.no_grad()
def sweep(
    model: CausalLM,
    data: Instructions,
    levels: Sequence[float],
    settings: Evaluation,
    at_once: int,
    device: torch.device,
    tell: Callable[[int], Any] = lambda count: None,
) -> InstructionSweep:
    """Loss (nats) and accuracy of the response tokens of all test instructions, the text before them given.

    Common random numbers: the unit noise depends on the batch and the draw alone, so it is the same for all levels
    and both arms.
    """
    texts, sigma = data.split("test"), Scale(data.frequencies, device)(model)
    depth = model.layers + 1
    sums, sizes = np.zeros((2, len(levels), depth, len(texts))), np.zeros(len(texts), np.int64)
    for number, index in enumerate(by_length(texts.lengths, settings.batch)):
        for draw in range(settings.noise_draws):
            batch = gather(texts, index, (TEST, settings.seed, number, draw), device)
            unit, found = unit_noise(model, batch), []
            for level in torch.tensor(levels, device=device)[:, None]:
                states = noisy_states(model, batch, unit, level, sigma)
                rows = torch.stack([state.squeeze(0)[batch.predicts] for state in states])
                found.append(torch.stack([of.double() for of in layer_hits(model, rows, batch.targets, at_once)]))
            each, owner = (
                torch.stack(found, dim=1),
                batch.predicts.nonzero()[:, 0],
            )  # each: (2, gammas, depth, tokens)
            summed = each.new_zeros(*each.shape[:-1], len(index)).index_add_(-1, owner, each).cpu().numpy()
            sums[..., index] += summed
            sizes[index] = batch.predicts.sum(1).cpu().numpy()
        tell(len(index))
    loss, accuracy = sums / (sizes * settings.noise_draws)
    return InstructionSweep(loss, accuracy, sizes)


def _measure(
    params: Params,
    data: Instructions,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    tell: Callable[[int], Any],
) -> list[list[Row]]:
    levels, (cell,) = gammas(params), stack
    with autocast(device, params.training.precision):
        found = sweep(net, data, levels, params.lm.evaluation, params.lm.logits_at_once, device, tell)
    return [[*_rows(found, levels), *_replicates(params, cell, found, levels)]]


def _rows(found: InstructionSweep, levels: Sequence[float]) -> Iterable[Row]:
    """loss and accuracy of every layer at every level, over all response tokens."""
    weights = found.sizes / found.sizes.sum()
    for metric, values in (("loss", found.loss @ weights), ("accuracy", found.accuracy @ weights)):
        for level, by_layer in zip(levels, values.tolist(), strict=True):
            for layer, value in enumerate(by_layer):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}


def _replicates(params: Params, cell: Cell, found: InstructionSweep, levels: Sequence[float]) -> Iterable[Row]:
    """On every resample of the test instructions: accuracies, the area, and whether f_l falls."""
    evaluation, texts = params.lm.evaluation, len(found.sizes)
    resamples = replicates.counts(cell.dataset, texts, evaluation)
    swept = sorted(set(map(float, evaluation.gammas)))
    hits = found.accuracy[[levels.index(level) for level in swept], -1]
    scores = replicates.accuracies(hits, found.sizes, swept, cell.eps, resamples)
    f = replicates.mean(found.loss[levels.index(cell.eps)], found.sizes, resamples)
    scores["descending"] = replicates.descending(f, _problem(params, cell).cap_layer)
    return replicates.rows(scores, texts, cell.eps, cell.layers)
