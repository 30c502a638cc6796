"""Random numbers that follow keys, and the noise of training: y = x + level * sigma * n (section 4)."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

# The first number of a key where it is no training seed: streams that must never meet the noise of a batch,
# (seed, epoch, step). Keys are filled up with zeros, so that (seed, 2) would be (seed, 2, 0). All are above
# schema.SEEDS, the largest seed.
VALIDATION = 2**32 - 1
TEST = 2**32 - 2
WEIGHTS = 2**32 - 3
RESAMPLES = 2**32 - 4
DROPOUT, DRAWS, LEVELS = 1, 2, 3  # the last number of the key of a batch's other streams


def generator(*key: int) -> torch.Generator:
    """A stream of random numbers that depends on the key alone, e.g. (seed, epoch, step), and not on a device.

    It draws on the host: what a seeded GPU draws depends on how many multiprocessors it has, and the arms of a
    pair would see unlike noise on unlike cards. The host is steps ahead of a GPU, which waits for no number.
    torch's generator of the host reads the low 32 bits of its seed alone: of two keys in 2^32 the streams are one.
    """
    state = np.random.SeedSequence(key).generate_state(2, np.uint32)
    return torch.Generator().manual_seed(int(state[0]) << 32 | int(state[1]))


class Stream:
    """The random numbers of one batch, and what is made of them once, by its key alone: whoever asks again gets
    the same ones, on any device."""

    def __init__(self, *key: int, device: torch.device | str = "cpu") -> None:
        self.key = key
        self.device = torch.device(device)
        self._known: dict[Hashable, Tensor] = {}

    def normal(self, *shape: int) -> Float[Tensor, "..."]:
        """Standard normal numbers; drawn once for all levels and layers of a batch."""
        return self.once(shape, lambda: sent(torch.randn(shape, generator=generator(*self.key)), self.device))

    def once(self, name: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """What `make` returns, worked out once for all levels of a batch; one name is for one thing."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    def numpy(self) -> np.random.Generator:
        """A fresh generator for libraries that work in numpy, on the host."""
        return np.random.default_rng(np.random.SeedSequence(self.key))


def normals(
    keys: Sequence[tuple[int, ...]], shape: Sequence[int], device: torch.device
) -> Float[Tensor, "keys ..."]:
    """Standard normal numbers, a row a key, each what a Stream of it draws.

    They are drawn into one piece of memory that a GPU fetches while the host goes on: with a copy and a call a key
    a stack of many seeds waited for its noise.
    """
    numbers = torch.empty(len(keys), *shape, pin_memory=device.type == "cuda")
    for row, key in zip(numbers, keys, strict=True):
        torch.randn(row.shape, generator=generator(*key), out=row)
    return numbers.to(device, non_blocking=True)


def sent(numbers: Tensor, device: torch.device) -> Tensor:
    """What the host drew or read, on a device; the host does not wait for the copy."""
    if numbers.device.type == device.type:
        return numbers
    return (numbers.pin_memory() if device.type == "cuda" else numbers).to(device, non_blocking=True)


def perturb(
    clean: Float[Tensor, "#cells batch *parts width"],
    unit: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, "#cells *each"],
    sigma: float | Float[Tensor, "#cells"],
) -> Float[Tensor, "cells batch *parts width"]:
    """y = x + level * sigma * n: the same unit noise n for every cell, scaled by each cell's level.

    Args:
        clean: x, pixels in [0, 1] or word embeddings.
        unit: n, standard normal.
        level: eps when training, gamma when testing, one a cell or one an input.
        sigma: noise scale in the units of x, one for all cells or one a cell.
    """
    scale = sigma if isinstance(sigma, float) else sigma.view(-1, *[1] * (level.dim() - 1))
    strength = level * scale
    return clean + strength.view(*strength.shape, *[1] * (clean.dim() - strength.dim())) * unit


def drawn_levels(
    eps: Float[Tensor, " cells"], key: tuple[int, ...], batch: int, device: torch.device
) -> Float[Tensor, "cells batch"]:
    """Noise levels of single inputs, uniform in [0, eps]: the same share of eps for every cell of a batch."""
    return eps[:, None] * sent(torch.rand(batch, generator=generator(*key, LEVELS)), device)


@torch.no_grad()
def embedding_scale(
    table: Float[Tensor, "cells vocabulary width"], frequencies: Float[Tensor, " vocabulary"]
) -> Float[Tensor, " cells"]:
    """sigma of text: the standard deviation of the embedding entries over the tokens of the training texts.

    Args:
        frequencies: the share of each token among them, padding left out.
    """
    # Sums of products, since a product of matrices would be rounded by autocast.
    mean = (table.mean(-1) * frequencies).sum(-1)
    square = (table.square().mean(-1) * frequencies).sum(-1)
    return (square - mean.square()).sqrt()


@contextmanager
def seeded(*key: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Within it, what draws from torch's global stream (dropout, a library's initial weights) follows the key.

    Weights are drawn on the host. Dropout draws on the device, so that its masks are one kind of card's.
    """
    device = torch.device(device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.random.manual_seed(generator(*key).initial_seed())
        yield
