"""Which device computes, at which precision."""

import torch

from descent.errors import UserError


def choose(device: str) -> torch.device:
    """The device named by params.yaml's `device`: auto takes a GPU where there is one.

    Raises:
        UserError: cuda is asked for and there is none.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda, but torch sees no GPU here; set device: auto or cpu in params.yaml")
    return torch.device(device)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """The context of every forward; losses and multipliers stay float32.

    `tf32` lets float32 products use the tensor cores, `bf16` computes them in bfloat16.
    """
    torch.set_flush_denormal(True)  # saturated softmax weights underflow
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
