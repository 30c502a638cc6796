"""The language model out of distribution: every layer's loss and token accuracy over the levels of a shift."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from descent.models.causal_lm import CausalLM
from descent.tasks.common.shifted import Shifted
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.lm.batches import Batch, InstructionTask
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.losses import layer_hits, token_loss
from descent.tasks.text.data import Texts, by_length
from descent.tasks.text.embeddings import Scale
from descent.training.noise import TEST, Stream


@dataclass(frozen=True)
class InstructionSweep:
    """Scores of one cell on every test prompt: means over the tokens of its responses and noise draws.

    A prompt that is asked twice is one: its responses are no two pieces of evidence.
    """

    loss: Float[np.ndarray, "gammas depth prompts"]
    accuracy: Float[np.ndarray, "gammas depth prompts"]
    sizes: Int64[np.ndarray, " prompts"]  # the tokens of their responses


@torch.no_grad()
def sweep(
    model: CausalLM,
    data: Instructions,
    levels: Sequence[float],
    apply: Shifted,
    at_once: int,
    how: Sweeping,
) -> InstructionSweep:
    """Loss (nats) and accuracy of the response tokens of all test instructions, the text before them given.

    Common random numbers: the unit noise depends on the batch and the draw alone, so it is the same for all levels
    and both arms.
    """
    settings, device = how.settings, how.device
    texts = data.split("test")
    sigma = Scale(data.frequencies, device)(model)
    depth = model.layers + 1
    sums = np.zeros((2, len(levels), depth, len(texts)))
    sizes = np.zeros(len(texts), np.int64)
    for number, index in enumerate(by_length(texts.lengths, settings.batch)):
        for draw in range(settings.noise_draws):
            batch = InstructionTask.gather(texts, index, (TEST, settings.seed, number, draw), device)
            stream = Stream(*batch.key, device=device)
            found = []
            clean = model.embed(batch.ids)
            told = apply.told(clean, batch.mask, 1, partial(_loss, model, batch, at_once))
            for level in torch.tensor(levels, device=device)[:, None]:
                states = model.states(apply(clean, level, stream, sigma, **told))
                rows = torch.stack([state.squeeze(0)[batch.predicts] for state in states])
                found.append(torch.stack([of.double() for of in layer_hits(model, rows, batch.targets, at_once)]))
            each = torch.stack(found, dim=1)  # (2, gammas, depth, tokens)
            owner = batch.predicts.nonzero()[:, 0]
            summed = each.new_zeros(*each.shape[:-1], len(index)).index_add_(-1, owner, each).cpu().numpy()
            sums[..., index] += summed
            sizes[index] = batch.predicts.sum(1).cpu().numpy()
        how.progress(len(index))
    prompt = _prompts(texts)
    tokens = np.bincount(prompt, sizes)
    summed = np.zeros((*sums.shape[:-1], len(tokens)))
    np.add.at(summed, (..., prompt), sums)
    loss, accuracy = summed / (tokens * settings.noise_draws)
    return InstructionSweep(loss, accuracy, tokens.astype(np.int64))


def _loss(model: CausalLM, batch: Batch, at_once: int, inputs: Float[Tensor, "1 batch tokens width"]) -> Tensor:
    """f_L of the batch, as a function of its embeddings."""
    return token_loss(model, model.states(inputs)[-1].squeeze(0)[batch.predicts], batch.targets, at_once)


def _prompts(texts: Texts) -> Int64[np.ndarray, " texts"]:
    """The number of each text's prompt, the tokens before its response."""
    ids, _, starts = texts.gather(np.arange(len(texts)))
    said = [tuple(row[:start].tolist()) for row, start in zip(ids, starts, strict=True)]
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(said))}
    return np.array([numbers[prompt] for prompt in said])
