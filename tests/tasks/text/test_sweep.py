"""The sweep over the levels of a shift: stacks score as single cells, draws and seeds are the noise."""

from pathlib import Path

import numpy as np
import pytest
from torch import nn

from descent.cells import Cell
from descent.config import Params
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.text.data import Tokens
from descent.tasks.text.sweep import TextSweep, sweep
from tests.fakes.text import CPU, DATASET, built, fed, shaken, text_params, write_tokens


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return write_tokens(tmp_path / "imdb-bert")


def swept(model: nn.Module, tokens: Tokens, params: Params, levels: list[float], eps: list[float]) -> TextSweep:
    return sweep(model, tokens, levels, apply_of(params, "gaussian"), eps, params.text.evaluation, CPU)


def test_cells_of_a_stack_score_what_they_score_alone(tokens: Tokens) -> None:
    params, made = text_params(), fed(tokens, "ut_text")
    asked = [Cell("text", DATASET, "ut_text", "constrained", 2, eps, seed) for seed, eps in enumerate((0.4, 0.0))]
    levels, apply = levels_of(params, "text", "gaussian", [0.4, 0.0]), apply_of(params, "gaussian")
    stack = shaken(made.build(asked))
    told: list[int] = []
    many = sweep(stack, tokens, levels, apply, [0.4, 0.0], params.text.evaluation, CPU, told.append)
    assert levels == [0.0, 0.4, 1.0, 2.0] and sum(told) == 2 * 17
    for index, cell in enumerate(asked):
        single = made.build([cell]).eval()
        single.load_state_dict({name: value[index : index + 1] for name, value in stack.state_dict().items()})
        one = swept(single, tokens, params, levels, [cell.eps])
        np.testing.assert_allclose(one.loss[:, 0], many.loss[:, index], rtol=1e-5)
        np.testing.assert_allclose(one.ratios(0), many.ratios(index), rtol=1e-4)
    assert np.abs(many.loss[:, 0] - many.loss[:, 1]).min() > 1e-6


def test_more_draws_and_another_seed_are_other_noise(tokens: Tokens) -> None:
    model = shaken(built(tokens, "ut_text"))

    def loss(**changes: int) -> list[float]:
        params = text_params({"text.evaluation": {"batch": 5} | changes})
        return swept(model, tokens, params, [0.0, 1.0], [0.0]).loss[:, 0, 2].tolist()

    found = [loss(seed=5, noise_draws=1), loss(seed=5, noise_draws=2), loss(seed=6, noise_draws=1)]
    assert len({noisy for _, noisy in found}) == 3 and loss(seed=5, noise_draws=1) == found[0]
    assert max(clean for clean, _ in found) == pytest.approx(min(clean for clean, _ in found), rel=1e-12)
