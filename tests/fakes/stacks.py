"""Stacks of cells, for the loop and for executors."""

import torch

from descent.cells import Cell

ARMS = ("constrained", "unconstrained", "deep_supervision")
CPU = torch.device("cpu")
STACKS = [[Cell("video", "ucsd", "dust", "constrained", layers, 0.0, 0)] for layers in (2, 3, 5, 7)]


def stack(arm: str = "constrained", model: str = "dust", seeds: tuple[int, ...] = (0, 0, 1)) -> list[Cell]:
    """Cells of three noise levels; the last has another seed unless told."""
    return [
        Cell("video", "ucsd", model, arm, 3, eps, seed) for eps, seed in zip((0.0, 0.2, 0.5), seeds, strict=False)
    ]
