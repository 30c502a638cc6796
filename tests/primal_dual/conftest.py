"""The method is checked in double precision."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
