"""The language model's task: the next token of a response, from noisy word embeddings, at every layer (METHOD
3.6)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from descent.cells import Cell
from descent.config import Params
from descent.models.causal_lm import CausalLM
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.losses import token_loss
from descent.tasks.text.batches import Scale
from descent.tasks.text.data import Texts, batches, by_length
from descent.training.noise import DROPOUT, VALIDATION, generator, perturb, seeded

DRAWS = 2  # the fourth number of the key of a batch's stream of which tokens and layers are read out


class Batch(NamedTuple):
    """Instructions with responses, and the key of their random numbers; `training` switches dropout on."""

    ids: Int64[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"]  # real tokens
    predicts: Bool[Tensor, "batch tokens"]  # tokens behind which a response's token stands
    key: tuple[int, ...]
    training: bool

    @property
    def targets(self) -> Int64[Tensor, " predicted"]:
        """The response tokens, in the order of `predicts`."""
        return self.ids.roll(-1, 1)[self.predicts]


class InstructionTuning:
    """Batches of instructions for one cell; the other arm's cell sees the same ones with the same unit noise.

    The loss is that of the response tokens alone, their end token among them. Of the layers below the last, which
    only the constraints look at, `readout_tokens` of a batch's response tokens and `readout_layers` of the layers
    may be drawn; both estimates are unbiased (`losses`).
    """

    def __init__(self, params: Params, data: Instructions, device: torch.device, cells: Sequence[Cell]) -> None:
        (cell,) = cells
        self.constrained, self.seed = cell.method == "constrained", cell.seed
        self.eps = torch.tensor([cell.eps], device=device)
        self.asked, self.device, self.texts = params.lm, device, data.split("train")
        self.size = min(params.budget.lm.batch, len(self.texts))
        self.steps = len(self.texts) // self.size
        self.order: tuple[int, list[np.ndarray]] = (-1, [])
        self.scale = Scale(data.frequencies, device)
        held = data.split("validation")
        self.held_out = [
            gather(held, index, (VALIDATION, number), device)
            for number, index in enumerate(by_length(held.lengths, params.lm.validation_batch))
        ]

    def batch(self, epoch: int, step: int) -> Batch:
        """Instructions drawn without replacement within an epoch."""
        if self.order[0] != epoch:
            stream = np.random.default_rng([self.seed, epoch])
            order = stream.permutation(len(self.texts))
            self.order = (epoch, batches(self.texts.lengths, order, self.size, self.asked.length_pool, stream))
        key = (self.seed, epoch, step)
        return gather(self.texts, self.order[1][step], key, self.device)._replace(training=True)

    def validation(self) -> Iterable[tuple[Batch, int]]:
        """All validation instructions, with the same noise in every epoch; sizes count response tokens."""
        return ((batch, int(batch.predicts.sum())) for batch in self.held_out)

    def losses(self, model: CausalLM, batch: Batch) -> Float[Tensor, "1 depth"]:
        """f_0 ... f_L, from one forward.

        With S the drawn tokens and p the drawn share of the layers below the last,

            f_l = f_l(S) + f_L - f_L(S)      whose mean over S is f_l of all tokens; of the difference that a
                                             constraint looks at, both sides are of the same tokens
            df_l = df_l(S) / p or 0          the gradient of a layer that is drawn, or not: the value is kept

        In the unconstrained arm, whose objective is f_L, the other layers are measured without gradient.
        """
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            states = noisy_states(model, batch, unit_noise(model, batch), self.eps, self.scale(model))
        *below, last = (state.squeeze(0)[batch.predicts] for state in states)
        targets, layers = batch.targets, len(below)
        order = torch.arange(len(targets), device=self.device)
        drawn, share, count = set(range(layers)), 1.0, len(targets)
        if batch.training:
            stream = generator(*batch.key, DRAWS)
            if self.asked.readout_tokens != "all" and self.asked.readout_tokens < count:
                count = self.asked.readout_tokens
                order = torch.randperm(len(targets), generator=stream).to(self.device)
            if self.asked.readout_layers != "all" and self.asked.readout_layers < layers:
                drawn = set(torch.randperm(layers, generator=stream)[: self.asked.readout_layers].tolist())
                share = len(drawn) / layers
        some, rest = order[:count], order[count:]
        last_some = self._loss(model, last[some], targets[some])
        f_last = last_some
        if len(rest):
            f_last = (count * last_some + len(rest) * self._loss(model, last[rest], targets[rest])) / len(targets)
        correction = f_last - last_some if self.constrained else (f_last - last_some).detach()
        f = []
        for layer, state in enumerate(below):
            moves = self.constrained and layer in drawn and torch.is_grad_enabled()
            with torch.set_grad_enabled(moves):
                value = self._loss(model, state[some], targets[some])
            f.append(value.detach() + (value - value.detach()) / share + correction)
        return torch.stack([*f, f_last])[None]

    def _loss(self, model: CausalLM, states: Tensor, targets: Tensor) -> Float[Tensor, ""]:
        return token_loss(model, states, targets, self.asked.logits_at_once)


def gather(texts: Texts, index: np.ndarray, key: tuple[int, ...], device: torch.device) -> Batch:
    """The texts with these numbers on the device."""
    ids, lengths, starts = texts.gather(index)
    place = torch.arange(ids.shape[1])
    mask = place < lengths[:, None]
    predicts = (place >= starts[:, None] - 1) & (place < lengths[:, None] - 1)
    return Batch(*(part.to(device, non_blocking=True) for part in (ids, mask, predicts)), key, training=False)


def unit_noise(model: CausalLM, batch: Batch) -> Float[Tensor, "1 batch tokens width"]:
    """n of a batch: standard normal on real tokens, by its key alone."""
    shape, device = (1, *batch.ids.shape, model.width), batch.ids.device
    unit = torch.randn(shape, generator=generator(*batch.key, device=device), device=device)
    return unit * batch.mask[..., None]


def noisy_states(
    model: CausalLM,
    batch: Batch,
    unit: Float[Tensor, "1 batch tokens width"],
    level: Float[Tensor, " 1"],
    sigma: Float[Tensor, " 1"],
) -> list[Float[Tensor, "1 batch tokens width"]]:
    """X_0 ... X_L at noise level * sigma on the word embeddings."""
    return model.states(perturb(model.embed(batch.ids), unit, level, sigma))
