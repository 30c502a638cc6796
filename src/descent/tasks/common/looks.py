"""What pictures of single inputs need: the trained models that they show, and the attention of these."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from descent.cells import Cell, headline
from descent.config import Params
from descent.runner import scores, store
from descent.runner.items import Item

LOOK = 2**32 - 3  # the third number of the key of the noise of what is looked at, which no batch of a sweep has


def shown(params: Params, item: Item) -> list[Cell]:
    """The cells that pictures show: of every arm the deepest, at the headline level, of the first seed.

    Not one that diverged: its weights say nothing.
    """
    level = headline(params, item.cells[0].experiment)
    known = [cell for cell in item.cells if cell.eps == level]
    depth = max(cell.layers for cell in known)
    seed = min(cell.seed for cell in known)
    chosen = [cell for cell in known if (cell.layers, cell.seed) == (depth, seed)]
    return [cell for cell in chosen if not store.record(item.runs, cell)["diverged"]]


def trained(item: Item, cell: Cell) -> nn.Module:
    """The model of one cell with its reported weights, on the item's device, as it is tested.

    Raises:
        UserError: the cell is missing.
    """
    return scores.loaded(item.feed.build, item.runs, [cell]).to(item.feed.device).eval()


class Attention(TorchFunctionMode):
    """Within it `weights` collects what every softmax gives: a model returns its states, and no attention.

    A library that computes attention in one fused call leaves none here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[Float[Tensor, "*batch tokens tokens"]] = []

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = function(*args, **(kwargs or {}))
        if getattr(function, "__name__", "") == "softmax":
            self.weights.append(found)
        return found


def weights_of_layers(collected: list[Tensor], layers: int, tokens: int) -> list[Float[Tensor, "tokens tokens"]]:
    """Of what Attention collected the weights of the first input of the first cell, one matrix a layer; none where
    it is not one of T x T for every layer."""
    found = [own[0, 0] for own in collected if own.dim() == 4 and own.shape[2:] == (tokens, tokens)]
    return found if len(found) == layers else []


def listed(values: Tensor) -> Any:
    """Numbers as nested lists, short enough for a small JSON file."""
    return values.double().cpu().numpy().round(5).tolist()
