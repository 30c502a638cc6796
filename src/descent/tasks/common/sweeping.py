"""What every task's sweep over test inputs is told beside models, inputs and levels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from descent.schema import Evaluation


@dataclass(frozen=True)
class Sweeping:
    """How a sweep goes through the test inputs.

    Attributes:
        progress: told after each batch how many inputs are done, times cells.
    """

    settings: Evaluation
    device: torch.device
    progress: Callable[[int], Any] = lambda count: None
