"""One test frame as every layer has it, the attention of one sequence, atoms: the arrays of pictures of layers."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.analysis.select import TRAINED
from descent.cells import headline
from descent.config import Params
from descent.runner.items import Item
from descent.tasks.common.items import budget_of
from descent.tasks.common.looks import LOOK, Attention, shown, trained, weights_of_layers
from descent.tasks.common.shifted import apply_of
from descent.tasks.video.batches import task_of
from descent.tasks.video.data import Prepared, Sequences
from descent.tasks.video.feed import sigma
from descent.tasks.video.quality import psnr
from descent.tasks.video.references import CLASSICAL, Map, identity
from descent.training.noise import TEST, Stream

ATOMS = 14  # of a dictionary: those that training moved most
Arrays = dict[str, np.ndarray]


class Scene(NamedTuple):
    """What a model sees of one test frame: the frame, or the sequences of patches that run through it."""

    clean: Float[Tensor, "1 batch *parts"]
    tokens: int  # frames of the sequences; 1 of a frame
    token: int  # which of them is shown

    def frame(self, pictures: Float[Tensor, "n rows columns"]) -> Float[Tensor, "size size"]:
        """The frame from pictures of its parts, the tokens of one place after the other."""
        across = math.isqrt(len(pictures) // self.tokens)
        own = pictures.unflatten(0, (across, across, self.tokens))[:, :, self.token]
        return own.transpose(1, 2).flatten(2, 3).flatten(0, 1)

    def pixels(self, inputs: Float[Tensor, "1 batch *parts"]) -> Float[Tensor, "1 1 size size"]:
        """The frame of inputs that are not clipped."""
        side = math.isqrt(inputs.numel() // (inputs.shape[1] * self.tokens))
        return self.frame(inputs.reshape(-1, side, side))[None, None]


@torch.no_grad()
def write(params: Params, prepared: Prepared, item: Item, folder: Path) -> None:
    """<arm>.npz of the cells that pictures show, of the noisy frame (identity) and of each classical filter.

    Each holds `gammas`; the frame as it should be, `clean`, and the answers of all layers at every gamma,
    `pictures` (gammas, depth, size, size), uint8; their `psnr` (gammas, depth). Of a model with attention over a
    sequence, or with dictionaries, it holds these too: see `_attention` and `_atoms`.
    """
    for name, arrays in _by_arm(params, prepared, item):
        np.savez_compressed(folder / f"{name}.npz", **arrays)


def _by_arm(params: Params, prepared: Prepared, item: Item) -> Iterator[tuple[str, Arrays]]:
    device = item.feed.device
    scale = sigma(params, prepared)
    apply = apply_of(params, TRAINED)
    scene = _scene(params, prepared, item)
    eps = headline(params, "video")
    highest = max(params.video.evaluation.gammas)
    levels = list(dict.fromkeys([eps, float(highest)]))
    stream = Stream(TEST, params.video.evaluation.seed, LOOK, device=device)
    noisy = [apply(scene.clean, torch.tensor([level], device=device), stream, scale) for level in levels]
    net = item.feed.build(item.cells[:1]).to(device)
    whole = Scene(scene.pixels(scene.clean), 1, 0)
    for name, told in {"identity": lambda noise: identity, **CLASSICAL}.items():
        maps = [Map(net, told(level * scale)) for level in levels]
        yield name, _strips(maps, whole, [scene.pixels(own) for own in noisy], levels)
    for cell in shown(params, item):
        net = trained(item, cell)
        arrays = _strips([net] * len(levels), scene, noisy, levels) | _atoms(item.feed.build([cell]), net)
        yield cell.arm, arrays | _attention(net, scene, noisy[0], cell.layers)


def _scene(params: Params, prepared: Prepared, item: Item) -> Scene:
    """The middle frame of the middle sequence of the test set; the middle frame of all where a model sees single
    ones, whose clips may be shorter than a sequence."""
    model = item.cells[0].model
    budget = budget_of(params, model).model_copy(update={"test_inputs": None})
    inputs = task_of(model).inputs(prepared, budget, "test")
    in_sequences = isinstance(inputs, Sequences)
    if in_sequences:
        index = len(inputs.starts) // 2 * inputs.places + np.arange(inputs.places)
    else:
        index = np.array([len(inputs) // 2])
    clean = inputs.gather(index)[None].to(item.feed.device).float() / 255
    return Scene(clean, budget.tokens, budget.tokens // 2) if in_sequences else Scene(clean, 1, 0)


def _strips(models: Sequence[nn.Module], scene: Scene, noisy: Sequence[Tensor], levels: Sequence[float]) -> Arrays:
    """The answers of every layer as frames, a strip for each level, and how near the clean one they are."""
    clean = scene.frame(models[0].pictures(models[0].target(scene.clean))[0])
    strips = []
    for model, own in zip(models, noisy, strict=True):
        answers = [model.pictures(model.readout(state))[0] for state in model.states(own)]
        strips.append(torch.stack([scene.frame(answer) for answer in answers]))
    pictures = torch.stack(strips)
    error = (pictures - clean).square().flatten(2).double().mean(2).tolist()
    return {
        "gammas": np.array(levels),
        "clean": _gray(clean),
        "pictures": _gray(pictures),
        "psnr": np.array([[psnr(value) for value in strip] for strip in error]),
    }


def _attention(net: nn.Module, scene: Scene, noisy: Tensor, layers: int) -> Arrays:
    """`attention` (layers, T, T) of the sequence that changes most, and its clean patches, `sequence`."""
    if scene.tokens == 1:
        return {}
    place = int(scene.clean[0].var(1).mean(-1).argmax())
    with Attention() as seen:
        net.states(noisy[:, place : place + 1])
    found = weights_of_layers(seen.weights, layers, scene.tokens)
    patches = net.pictures(scene.clean[:, place : place + 1])[0]
    return {"attention": torch.stack(found).cpu().numpy(), "sequence": _gray(patches)} if found else {}


def _atoms(before: nn.Module, after: nn.Module) -> Arrays:
    """Of a model with dictionaries, of D_1 and D_L (one where they are the same) the ATOMS that moved most.

    `atoms` (dictionaries, 2, ATOMS, rows, columns): before and after training; `moved` (dictionaries,): the norm
    of the whole dictionary's change over its norm before.
    """
    if not hasattr(after, "dictionaries"):
        return {}
    both = torch.stack([net.dictionaries[0].cpu() for net in (before, after)], dim=1)  # (layers, 2, pixels, atoms)
    both = both[[0, -1]] if len(both) > 1 else both
    change = torch.linalg.vector_norm(both[:, 1] - both[:, 0], dim=1)  # (dictionaries, atoms)
    size = torch.linalg.matrix_norm(both[:, 0])
    kept = change.argsort(dim=1, descending=True, stable=True)[:, :ATOMS]
    side = math.isqrt(both.shape[2])
    atoms = torch.stack([own[:, :, order] for own, order in zip(both, kept, strict=True)]).mT
    return {
        "atoms": atoms.unflatten(-1, (side, side)).numpy(),
        "moved": (torch.linalg.vector_norm(change, dim=1) / size).numpy(),
    }


def _gray(pictures: Tensor) -> np.ndarray:
    return (pictures * 255).round().byte().cpu().numpy()
