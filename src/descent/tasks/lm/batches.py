"""The language model's task (section 5.3): the next token of a response, from noisy embeddings, at every layer."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from descent.cells import Cell
from descent.components import load
from descent.models.causal_lm import CausalLM
from descent.schema import TextBudget
from descent.tasks.lm.losses import cast_head, token_loss
from descent.tasks.lm.schema import LanguageModel
from descent.tasks.text.data import Texts
from descent.tasks.text.embeddings import EmbeddingTask, Tokenised
from descent.training.noise import DRAWS, DROPOUT, generator, seeded, sent


class Batch(NamedTuple):
    """Instructions with responses, and the key of their random numbers; `training` switches dropout on."""

    ids: Int64[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"]  # real tokens
    predicts: Bool[Tensor, "batch tokens"]  # tokens behind which a response's token stands
    places: Int64[Tensor, " predicted"]  # their numbers in the flattened batch: a mask would have the host wait
    key: tuple[int, ...]
    training: bool
    unit: Float[Tensor, "1 batch tokens width"] | None = None  # noise that was drawn with the batch

    @property
    def targets(self) -> Int64[Tensor, " predicted"]:
        """The response tokens, in the order of `predicts`."""
        return self.ids.roll(-1, 1).flatten()[self.places]


class InstructionTask(EmbeddingTask):
    """The response to an instruction, token by token, from every layer.

    The loss is that of the response tokens alone, their end token among them. Of the layers below the last, which
    only some objectives look at, `readout_tokens` of a batch's response tokens and `readout_layers` of the layers
    may be drawn; both estimates of f are unbiased (`losses`), of its ratios and logarithms they are not.
    """

    def __init__(
        self,
        data: Tokenised,
        budget: TextBudget,
        settings: LanguageModel,
        device: torch.device,
        cells: Sequence[Cell],
    ) -> None:
        super().__init__(data, budget, settings.length_pool, settings.validation_batch, device, cells)
        self.settings = settings
        self.all_layers = load("arms", cells[0].arm).ALL_LAYERS

    @staticmethod
    def gather(texts: Texts, index: np.ndarray, key: tuple[int, ...], device: torch.device) -> Batch:
        """The texts with these numbers on the device."""
        ids, lengths, starts = texts.gather(index)
        place = torch.arange(ids.shape[1])
        mask = place < lengths[:, None]
        predicts = (place >= starts[:, None] - 1) & (place < lengths[:, None] - 1)
        parts = ids, mask, predicts, predicts.flatten().nonzero()[:, 0]
        return Batch(*(sent(part, device) for part in parts), key, training=False)

    @staticmethod
    def compute(
        model: CausalLM, noisy: Float[Tensor, "1 batch tokens width"]
    ) -> list[Float[Tensor, "1 batch tokens width"]]:
        """X_0 ... X_L."""
        return model.states(noisy)

    @staticmethod
    def weight(batch: Batch) -> int:
        """Its response tokens."""
        return len(batch.places)

    def losses(self, model: CausalLM, batch: Batch) -> Float[Tensor, "1 depth"]:
        """f_0 ... f_L, from one forward.

        With S the drawn tokens and p the drawn share of the layers below the last,

            f_l = f_l(S) + f_L - f_L(S)      whose mean over S is f_l of all tokens; of the difference that a
                                             constraint looks at, both sides are of the same tokens
            df_l = df_l(S) / p + df_L - df_L(S)      the gradient where layer l is drawn, else without its first
                                             term; the value is kept

        For an objective of f_L alone the other layers are measured without gradient.
        """
        model.train(batch.training)
        with seeded(*batch.key, DROPOUT, device=self.device):
            noisy = self.noisy(model, batch)
            states = self.compute(model, noisy)
        *below, last = (state.squeeze(0).flatten(0, 1)[batch.places] for state in states)
        targets = batch.targets
        loss = partial(token_loss, model, at_once=self.settings.logits_at_once, head=cast_head(model))
        layers = len(below)
        order = torch.arange(len(targets), device=self.device)
        drawn = set(range(layers))
        share = 1.0
        count = len(targets)
        if batch.training:
            stream = generator(*batch.key, DRAWS)
            if self.settings.readout_tokens != "all" and self.settings.readout_tokens < count:
                count = self.settings.readout_tokens
                order = sent(torch.randperm(len(targets), generator=stream), self.device)
            if self.settings.readout_layers != "all" and self.settings.readout_layers < layers:
                drawn = set(torch.randperm(layers, generator=stream)[: self.settings.readout_layers].tolist())
                share = len(drawn) / layers
        some = order[:count]
        rest = order[count:]
        last_some = loss(last[some], targets[some])
        f_last = last_some
        if len(rest):
            f_last = (count * last_some + len(rest) * loss(last[rest], targets[rest])) / len(targets)
        correction = f_last - last_some if self.all_layers else (f_last - last_some).detach()
        f = []
        for layer, state in enumerate(below):
            moves = self.all_layers and layer in drawn and torch.is_grad_enabled()
            with torch.set_grad_enabled(moves):
                value = loss(state[some], targets[some])
            f.append(value.detach() + (value - value.detach()) / share + correction)
        return torch.stack([*f, f_last])[None]
