"""The devices and cores of this host that stacks may go to, and how many stacks share one."""

from collections.abc import Mapping

import torch

from descent.errors import UserError
from descent.io.processes import cores


def visible(device: str) -> list[torch.device]:
    """The devices that params.yaml's `device` stands for: every GPU there is for `cuda` and, with one, for `auto`.

    Raises:
        UserError: no GPU where one is asked for, or none of that number.
    """
    word, _, number = device.partition(":")
    if word == "cpu" or (word == "auto" and not torch.cuda.is_available()):
        return [torch.device("cpu")]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not count:
        raise UserError(f"device: {device}, but torch sees no GPU here; set device: auto or cpu in params.yaml")
    if number and int(number) >= count:
        known = "cuda:0 alone" if count == 1 else f"cuda:0 to cuda:{count - 1}"
        raise UserError(f"device: {device}, but there is {known} here; name one of these, or set device: auto")
    return [torch.device("cuda", int(number))] if number else [torch.device("cuda", i) for i in range(count)]


def share(shares: Mapping[str, float], model: str) -> int:
    """How many stacks of a model train on one GPU at the same time."""
    return max(1, int(1 / shares.get(model, shares["default"]) + 1e-9))


def threads(planned: int) -> int:
    """How many threads each of an item's stacks has."""
    return max(1, cores() // planned)
