"""UT for text (C.2): word embeddings, the shared layers of eq. (47)-(48), masked mean pooling, one readout."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import embedding

from descent.models.parts.inputs import Pretrained, TextInputs
from descent.models.parts.text import Embedded, Readout
from descent.models.parts.unrolled import UT
from descent.schema import Count, Positive, Schema, TextBudget
from descent.training.noise import WEIGHTS, generator

LABEL = "UT"
TASK = "text"
EMBEDDINGS = 3  # of the streams of initial weights


class Settings(Schema):
    """Word embeddings of an encoder may be frozen or trained, random ones are always trained."""

    tokenizer: str
    embeddings: Literal["frozen", "trained"]
    embedding_std: Positive
    residual: bool
    exact_beta: bool
    decouple: bool


class Embeddings(Pretrained):
    """Where the word embeddings come from: random ones of a width, or an encoder's."""

    width: Count | None = None


class Budget(TextBudget):
    """Beside what every model has, the source of the word embeddings."""

    embeddings: Embeddings


class TextUT(nn.Module):
    """A stack of cells; word embeddings are one frozen table for all cells, or a trained one each."""

    def __init__(
        self, unrolled: UT, table: Float[Tensor, "#cells vocabulary width"], trained: bool, readout: Readout
    ) -> None:
        super().__init__()
        self.unrolled, self.head = unrolled, readout
        if trained:
            self.table = nn.Parameter(table)
        else:  # not part of the weights: whoever builds the model reads it again
            self.register_buffer("table", table, persistent=False)

    def embed(self, ids: Int64[Tensor, "batch tokens"]) -> Float[Tensor, "#cells batch tokens width"]:
        """The clean word embeddings."""
        return torch.stack([embedding(ids, own) for own in self.table])

    def states(self, noisy: Embedded) -> list[Float[Tensor, "cells batch width"]]:
        """X_0 ... X_L as the readout sees them: averaged over the real tokens."""
        real = noisy.mask[..., None]
        share = real / real.sum(1, keepdim=True)  # padding must not weigh, nor a text by its length
        return [(state * share).sum(2) for state in self.unrolled.states(*noisy)]

    def readout(self, state: Float[Tensor, "cells *rest width"]) -> Float[Tensor, "cells *rest classes"]:
        """Logits of any number of layers."""
        return self.head(state)


def build(settings: Settings, budget: Budget, inputs: TextInputs, layers: int, seeds: Sequence[int]) -> TextUT:
    """A stack of cells of one depth, a seed each.

    Raises:
        UserError: the embeddings' source cannot be read, or has another vocabulary than the texts.
    """
    source = budget.embeddings
    if source.width is not None:
        shape = inputs.vocabulary, source.width
        table = torch.stack([torch.randn(shape, generator=generator(WEIGHTS, seed, EMBEDDINGS)) for seed in seeds])
        table = settings.embedding_std * table
        trained = True
    else:
        from descent.models.parts import encoder  # its library takes seconds to load

        table = encoder.word_embeddings(source, inputs)[None]
        trained = settings.embeddings == "trained"
        table = table.repeat(len(seeds), 1, 1) if trained else table
    unrolled = UT(
        cells=len(seeds),
        layers=layers,
        width=table.shape[-1],
        start="xavier",
        gain=1.0,  # from zero, as for video, W_f would begin as attention alone
        residual=settings.residual,
        exact_beta=settings.exact_beta,
        decouple=settings.decouple,
        seeds=seeds,
    )
    return TextUT(unrolled, table, trained, Readout(table.shape[-1], inputs.classes, seeds))


def width(settings: Settings, budget: Budget, inputs: TextInputs) -> int:
    """Numbers per token in one state: what a stack's size is counted in.

    Raises:
        UserError: the embeddings' source cannot be read.
    """
    source = budget.embeddings
    if source.width is not None:
        return source.width
    from descent.models.parts import pretrained

    return pretrained.configuration(source, inputs.local_data).hidden_size
