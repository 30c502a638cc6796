"""The language model on test instructions: every layer's loss and token accuracy over a sweep of noise levels."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.cells import Cell
from descent.closure import digest
from descent.datasets.instructions import Instructions
from descent.datasets.text import by_length
from descent.devices import autocast
from descent.evaluation.scores import Row, Scoring
from descent.models.causal_lm import CausalLM
from descent.params import Params
from descent.perturbations import TEST
from descent.schema import Evaluation, PrimalDual
from descent.token_losses import layer_hits
from descent.training.classification import Scale
from descent.training.instruction_tuning import gather, noisy_states, unit_noise
from descent.training.items import Item


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


@torch.no_grad()
def sweep(
    model: CausalLM,
    data: Instructions,
    levels: Sequence[float],
    settings: Evaluation,
    at_once: int,
    device: torch.device,
    tell: Callable[[int], Any] = lambda count: None,
) -> tuple[Float[Tensor, "gammas depth"], Float[Tensor, "gammas depth"]]:
    """Mean loss (nats) and accuracy over the response tokens of all test instructions, the text before them given.

    Common random numbers: the unit noise depends on the batch and the draw alone, so it is the same for all levels
    and both arms.
    """
    texts, sigma = data.split("test"), Scale(data.frequencies, device)(model)
    loss, hits, count = 0.0, 0.0, 0
    for number, index in enumerate(by_length(texts.lengths, settings.batch)):
        for draw in range(settings.noise_draws):
            batch = gather(texts, index, (TEST, settings.seed, number, draw), device)
            unit, targets, found = unit_noise(model, batch), batch.targets, []
            for level in torch.tensor(levels, device=device)[:, None]:
                states = noisy_states(model, batch, unit, level, sigma)
                rows = torch.stack([state.squeeze(0)[batch.predicts] for state in states])
                found.append(layer_hits(model, rows, targets, at_once))
            summed, right = (torch.stack(parts) for parts in zip(*found, strict=True))
            loss, hits, count = loss + summed, hits + right, count + len(targets)
        tell(len(index))
    return (loss / count).cpu(), (hits / count).double().cpu()


def _measure(
    params: Params,
    data: Instructions,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    tell: Callable[[int], Any],
) -> list[list[Row]]:
    levels = gammas(params)
    with autocast(device, params.training.precision):
        found = sweep(net, data, levels, params.lm.evaluation, params.lm.logits_at_once, device, tell)
    return [list(_rows(levels, *found))]


def _rows(levels: Sequence[float], loss: Tensor, accuracy: Tensor) -> Iterable[Row]:
    for metric, values in (("loss", loss), ("accuracy", accuracy)):
        for level, by_layer in zip(levels, values.tolist(), strict=True):
            for layer, value in enumerate(by_layer):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}
