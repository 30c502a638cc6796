"""Every shift keeps the contract of its folder, whatever its name."""

from contextlib import suppress
from itertools import zip_longest

import numpy as np
import pytest
import torch
from torch import Tensor

from descent import components
from descent.errors import UserError
from descent.schema import validated
from descent.training.noise import Stream
from tests.fakes import known

PARAMS = known.params()
SHIFTS = components.names("shifts")
OF_WORDS = [name for name in SHIFTS if components.declared("shifts", name).get("SEES") == "words"]


@pytest.mark.parametrize("name", OF_WORDS)
def test_a_shift_of_words_follows_its_numbers_does_nothing_at_level_zero_and_more_at_more(name: str) -> None:
    module, words = components.load("shifts", name), 50 * ["There", "is,", "a", "Letter", "in", "42", "words."]
    settings = validated(module.Settings, PARAMS.shifts[name], name)

    def shifted(level: float, seed: int = 0) -> list[str]:
        return module.apply(words, level, np.random.default_rng(seed), settings=settings)

    assert shifted(0.0) == words and shifted(0.3) == shifted(0.3) != shifted(0.3, seed=1)
    assert 0 < distance(shifted(0.1), words) < distance(shifted(0.4), words)
    assert words == 50 * words[:7] and not module.ENERGY and set(module.TASKS) <= set(components.TASKS)


def distance(one: list[str], other: list[str]) -> int:
    """Words that are not where they were, and those that are gone."""
    return sum(a != b for a, b in zip_longest(one, other)) if len(one) == len(other) else len(other) - len(one)


@pytest.mark.parametrize("name", [name for name in SHIFTS if name not in OF_WORDS])
def test_a_shift_keeps_the_shape_follows_its_stream_and_does_nothing_at_level_zero(name: str) -> None:
    module = components.load("shifts", name)
    settings = validated(module.Settings, PARAMS.shifts[name], name)
    shape = (8, 5, 16, 16) if getattr(module, "SEES", "") == "pictures" else (8, 5, 256)
    clean, some = torch.rand(1, *shape), torch.full((3,), 0.5 if module.ENERGY else settings.levels[-1])

    told = {"gradient": torch.randn(1, *shape)} if hasattr(module, "GRADIENT") else {}
    told |= {"real": torch.ones(shape[:2], dtype=torch.bool)} if hasattr(module, "REAL") else {}

    def shifted(level: Tensor, stream: Stream | None = None) -> Tensor:
        return module.apply(clean, level, stream or Drawn(1, 0), 0.2, settings=settings, **told)

    asked = Drawn(1, 1)
    other = shifted(some, asked)
    assert shifted(some).shape == (3, *shape) and shifted(some).dtype == clean.dtype
    assert torch.equal(shifted(some), shifted(some)) and torch.equal(shifted(some)[0], shifted(some[:1])[0])
    assert not torch.equal(shifted(some)[0], clean[0])
    assert torch.equal(shifted(some), other) != asked.drawn, "what is drawn is heeded"
    with suppress(UserError):  # of exponents and qualities 0 is no level
        validated(module.Settings, settings.model_dump() | {"levels": [0.0]}, name)
        assert torch.equal(shifted(torch.zeros(3)), clean.expand(3, *shape))
    assert set(module.TASKS) <= set(components.TASKS)


class Drawn(Stream):
    """Remembers whether its key was asked for, without which nothing is drawn."""

    drawn = False

    @property
    def key(self) -> tuple[int, ...]:
        self.drawn = True
        return self._key

    @key.setter
    def key(self, key: tuple[int, ...]) -> None:
        self._key = key
