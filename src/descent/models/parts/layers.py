"""What the unrolled models share: symmetric attention, the DCT, products with one matrix per cell."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def attention(
    keys: Float[Tensor, "cells batch tokens features"],
    exact_beta: bool = False,
    mask: Bool[Tensor, "batch tokens"] | None = None,
) -> Float[Tensor, "cells batch tokens tokens"]:
    """Symmetric softmax weights sm(Z Z^T), queries and keys being the same Z (eq. (47), (75)).

    Written out, since the weights themselves are asked for: DUST mixes twice with them, and figures show them.
    torch's own attention, which encoders and the language model use, takes a CPU as long.

    Args:
        keys: Z; for UT the tokens times W_a^T, for DUST the codes times D_l^T.
        exact_beta: weigh token j by exp(-|z_j|^2 / 2), as the descent of the pair term of the energy (45)
            needs; the paper sets these weights to 1.
        mask: which tokens are real; the others, padding, get no weight. None: all are.
    """
    scores = keys @ keys.mT
    if exact_beta:
        scores = scores - keys.square().sum(-1).unsqueeze(-2) / 2
    if mask is not None:
        scores = torch.where(mask[:, None], scores, -torch.inf)  # masked_fill has these bits too, slower
    return scores.softmax(-1)


def per_cell(
    tokens: Float[Tensor, "cells batch tokens width"], matrix: Float[Tensor, "cells width out"]
) -> Float[Tensor, "cells batch tokens out"]:
    """tokens @ matrix with each cell's own matrix, as one product a cell rather than one a sequence."""
    product = tokens.flatten(1, 2) @ matrix
    return product.unflatten(1, tokens.shape[1:3])


ROUNDS = 50  # of a power iteration


def largest(matrices: Float[Tensor, "*each rows columns"]) -> Float[Tensor, " *each"]:
    """The square of each matrix's largest singular value, from below, by a power iteration from one fixed vector.

    It is exact where all singular values are equal, as those of a DCT; where one stands out it is soon found, and
    where several are close any of them will do. Its gradient is that of the singular value: the left vector u is
    held, as its own gradient is zero at the end, so that of |M^T u|^2 only an outer product flows back.
    """
    held = matrices.detach()  # or autocast would keep a cast without gradient, for whoever multiplies them next
    product = held @ held.mT  # in the precision of training: the value has the square of what u is off by
    vector = torch.ones_like(product[..., :1]).cumsum(-2).sin()
    for _ in range(ROUNDS):
        vector = product @ vector
        vector = vector / torch.linalg.vector_norm(vector, dim=(-2, -1), keepdim=True)
    with torch.autocast(matrices.device.type, enabled=False):
        vector = torch.nn.functional.normalize(vector.to(matrices.dtype), dim=-2)
        return (vector.mT @ matrices).square().sum((-2, -1))


def square(number: int) -> int:
    """Raises ValueError for a number of atoms of which no separable DCT can be made."""
    if number < 1 or math.isqrt(number) ** 2 != number:
        raise ValueError("a separable DCT dictionary needs a square number of atoms, such as 256, 576 or 1024")
    return number


def dct(pixels: int, atoms: int) -> Float[Tensor, "pixels atoms"]:
    """The separable DCT dictionary of square patches: columns of unit norm, D = d (x) d.

    A tight frame D D^T = (atoms / pixels) I where the side of the atoms is the patch's or twice it.

    Raises:
        ValueError: pixels or atoms is not a square number.
    """
    side = math.isqrt(pixels)
    frequencies = math.isqrt(atoms)
    if side**2 != pixels or frequencies**2 != atoms:
        raise ValueError(f"a separable DCT needs square numbers, not {pixels} pixels and {atoms} atoms")
    place = torch.arange(side, dtype=torch.float64)[:, None]
    frequency = torch.arange(frequencies, dtype=torch.float64)
    d = torch.cos(torch.pi * (2 * place + 1) * frequency / (2 * frequencies))
    d = d / torch.linalg.vector_norm(d, dim=0)
    return torch.kron(d, d).float()
