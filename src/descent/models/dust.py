"""DUST, the deep unfolded sequential transformer: eq. (74)-(76) with A = I and coupled weights (C.4)."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import torch
from jaxtyping import Float
from pydantic import AfterValidator, Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import softshrink

from descent.models.parts.denoiser import Denoiser
from descent.models.parts.inputs import VideoInputs
from descent.models.parts.layers import attention, dct, largest, per_cell, square
from descent.schema import NonNegative, Positive, Schema, VideoBudget

LABEL = "DUST"
TASK = "video"
INPUTS = "patches"
TIED = {"dictionaries": "shared"}  # settings under which all layers are one map


class Settings(Schema):
    """c is step_scale * |D|^2, of the initial or the current D; kappa the share of attention in the half step.

    The threshold lambda_1 / c is a number of the codes, or, of the dictionary, in inverse proportion to |D_l|, as
    the codes of one estimate are.
    """

    dictionaries: Literal["shared", "per_layer"]
    attention: Literal["dictionary", "dct"]
    step_scale: Positive
    step: Literal["initial", "current"] = "initial"  # which runs published before there was another do not hold
    threshold: NonNegative
    threshold_of: Literal["codes", "dictionary"] = "codes"  # as step
    kappa: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="after")
    def _follows(self) -> "Settings":
        if self.threshold_of == "dictionary" and self.step == "initial":
            raise ValueError("threshold_of: dictionary is of steps that follow it too: set step: current")
        return self


class Budget(VideoBudget):
    """Beside what every video model has, the atoms N of a dictionary."""

    atoms: Annotated[int, AfterValidator(square)]


class SparseState(NamedTuple):
    """The iterate X_l of DUST: the codes and the signal they stand for."""

    codes: Float[Tensor, "cells batch tokens atoms"]  # H^l
    estimate: Float[Tensor, "cells batch tokens pixels"]  # H^l D_l^T


class DUST(Denoiser):
    """L layers of attention and iterative shrinkage, one stack of cells at once.

    H^0       = S(Y D_1 / c)
    H^{l-1/2} = (1 - kappa) H^{l-1} + kappa sm(H^{l-1} W^T W H^{l-1}^T) H^{l-1},   W = D_l      (75)
    H^l       = S(H^{l-1/2} + (Y - H^{l-1/2} D_l^T) D_l / c)                                   (76)

    S is the proximal map `shrink`, the output of layer l is H^l D_l^T, and the dictionaries are the only
    parameters: one (`shared`) or one a layer, initialised as the DCT. c is the constant step_scale * |D_init|_2^2
    or, with `current`, that of each D_l as training has it. (76) without S is then a step of descent on
    |Y - H D_l^T|^2 whatever training does, if step_scale is above 1/2, as the unrolled algorithm asks (1/c below
    2 / |D_l|_2^2); the constant asks it of the start alone. A threshold that does not follow D_l then leaves
    training a way to do without it: a small D_l has large codes. With `follows` S is of codes times |D_l| over
    that of the start, and D_l times a number is the same layer.
    """

    def __init__(
        self,
        cells: int,
        layers: int,
        dictionary: Float[Tensor, "pixels atoms"],
        shared: bool,
        shrink: Callable[[Tensor], Tensor],
        step_scale: float = 1.0,
        kappa: float = 1.0,
        fixed_attention: bool = False,
        current: bool = False,
        follows: bool = False,
    ) -> None:
        super().__init__()
        self.layers, self.shared, self.shrink, self.kappa = layers, shared, shrink, kappa
        self.current, self.follows, self.step_scale = current, follows, step_scale
        self.c = step_scale * torch.linalg.matrix_norm(dictionary, 2).item() ** 2
        copies = dictionary.expand(cells, 1 if shared else layers, *dictionary.shape)
        self.dictionaries = nn.Parameter(copies.clone())
        self.register_buffer("frozen_keys", dictionary.clone() if fixed_attention else None, persistent=False)

    def states(self, noisy: Float[Tensor, "cells batch tokens pixels"]) -> list[SparseState]:
        """The iterates X_0 ... X_L; layer 0 reads and is read with D_1."""
        # Unbound once: each indexing would cost its own zero-filled gradient of all dictionaries.
        times = self.layers if self.shared else 1
        dictionaries, steps = self.dictionaries.unbind(1) * times, self._steps() * times
        codes = self._shrunk(per_cell(noisy / steps[0], dictionaries[0]), steps[0])
        states = [SparseState(codes, per_cell(codes, dictionaries[0].mT))]
        for dictionary, c in zip(dictionaries, steps, strict=True):
            states.append(self._layer(dictionary, c, noisy, states[-1]))
        return states

    def _steps(self) -> tuple[Tensor | float, ...]:
        """c of every dictionary. Of the current ones the gradient flows through it too: without, each step would
        lengthen D in vain, for ever."""
        if not self.current:
            return (self.c,) * self.dictionaries.shape[1]
        return (self.step_scale * largest(self.dictionaries))[..., None, None, None].unbind(1)

    @torch.no_grad()
    def step_lengths(self) -> Float[Tensor, "cells layers"]:
        """|D_l|_2^2 / c of every layer: (76) without S is a step of descent on |Y - H D_l^T|^2 while it is below
        2."""
        c = self.step_scale * largest(self.dictionaries) if self.current else self.c
        return (torch.linalg.matrix_norm(self.dictionaries, 2) ** 2 / c).expand(-1, self.layers)

    def readout(self, state: SparseState) -> Float[Tensor, "cells batch tokens pixels"]:
        """The denoised patches at one layer."""
        return state.estimate

    def _layer(self, dictionary: Tensor, c: Tensor | float, noisy: Tensor, state: SparseState) -> SparseState:
        # With one dictionary the estimate of the layer before is H D^T already: a third of the products saved.
        signal = state.estimate if self.shared else per_cell(state.codes, dictionary.mT)
        keys = signal if self.frozen_keys is None else state.codes @ self.frozen_keys.mT
        weights = attention(keys)
        # Mixing tokens and D commute, so that the estimate of the half step needs no product with D.
        codes = self._half_step(weights, state.codes)
        signal = self._half_step(weights, signal)
        # c divides what is left and not its codes: those are more, and a tensor c would carry them out of bf16.
        codes = self._shrunk(codes + per_cell((noisy - signal) / c, dictionary), c)
        return SparseState(codes, per_cell(codes, dictionary.mT))

    def _shrunk(self, codes: Tensor, c: Tensor | float) -> Tensor:
        if not self.follows:
            return self.shrink(codes)
        size = (c / self.c).sqrt().to(codes.dtype)  # |D_l| over that of the start
        return self.shrink(codes * size) / size

    def _half_step(self, weights: Tensor, tokens: Tensor) -> Tensor:
        mixed = weights @ tokens
        return mixed if self.kappa == 1 else (1 - self.kappa) * tokens + self.kappa * mixed


def build(settings: Settings, budget: Budget, inputs: VideoInputs, layers: int, seeds: Sequence[int]) -> DUST:
    """A stack of cells of one depth, a seed each; all start as the DCT."""
    return DUST(
        cells=len(seeds),
        layers=layers,
        dictionary=dct(inputs.patch**2, budget.atoms),
        shared=settings.dictionaries == "shared",
        shrink=lambda codes: softshrink(codes, settings.threshold),
        step_scale=settings.step_scale,
        kappa=settings.kappa,
        fixed_attention=settings.attention == "dct",
        current=settings.step == "current",
        follows=settings.threshold_of == "dictionary",
    )


def width(settings: Settings, budget: Budget, inputs: VideoInputs) -> int:
    """Numbers per token in one state: what a stack's size is counted in."""
    return budget.atoms
