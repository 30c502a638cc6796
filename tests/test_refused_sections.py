"""Sections of params.yaml, read where they are used: a wrong value ends in one message that names its section."""

import pytest

from descent.cells import Cell
from descent.errors import UserError
from descent.tasks.common.items import budget_of, setting, settings_by_arm
from tests.fakes.core import small_params
from tests.fakes.dust import BUDGET
from tests.fakes.text import DUAL, text_params

DUST = f"{BUDGET}.models.dust"
URL = {"url": "http://example.org/a.zip"}

CELL = Cell("video", "ucsd", "dust", "constrained", 3, 0.13, 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"objectives.constrained.rho2": 1.0},
            "objectives.constrained of dust on ucsd is not right:\n  rho2: unknown",
        ),
        ({"objectives.constrained.rho": float("inf")}, "rho: Input should be a finite number"),
        ({"objectives.constrained.models.dust": {"alpha": 1.0}}, "alpha: Input should be less than 1, not 1.0"),
        (
            {"objectives.constrained.models.dust": {"alpha": 0.9, "R0": 1.0, "margin": 0.1}},
            "alpha 0.9 and margin 0.1 leave a layer no loss: lower one",
        ),
        (
            {"objectives.constrained.models.dust": {"alpha": 0.5, "R0": 1.0, "margin_start": 0.6}},
            "alpha 0.5 and margin_start 0.6 leave a layer no loss: lower one",
        ),
        ({f"{DUST}.arms.constrained.dual_lr": "1"}, "dual_lr: Input should be a valid number, not '1'"),
        ({f"{DUST}.arms.constrained": {"dual_lr": None}}, "dual_lr: Input should be a valid number"),
        ({"objectives.constrained.datasets": {"ucsd": {"dust": {"beta": 1}}}}, "beta: unknown key"),
        ({"objectives.constrained.warmup_epochs": 4}, "warmup_epochs 4 leaves none of the 4 epochs to the duals"),
    ],
)
def test_a_wrong_value_of_an_objective_is_refused_with_its_section(changes: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        setting(small_params(changes), CELL)
    assert told in str(error.value) and "pydantic" not in str(error.value)


@pytest.mark.parametrize(("parts", "told"), [("9", "a valid integer"), (None, "a valid integer"), (0, "greater")])
def test_parts_that_are_no_number_are_refused_where_params_yaml_is_read(parts: object, told: str) -> None:
    with pytest.raises(UserError, match=f"distilbert.parts: Input should be {told}"):
        text_params({"profiles.demo.text.models.distilbert.parts": parts})


def test_a_warm_up_counts_the_epochs_that_a_pass_is_cut_in() -> None:
    cell = Cell("text", "imdb", "distilbert", "constrained", 2, 0.4, 0)
    warm = {"objectives.constrained.warmup_epochs": 4, "profiles.demo.text.models.distilbert.epochs": 1}
    warm |= {"objectives.constrained.models.distilbert": DUAL | {"warmup_epochs": 4}}
    parts = "profiles.demo.text.models.distilbert.parts"
    assert setting(text_params(warm | {parts: 5}), cell).values.warmup_epochs == 4
    with pytest.raises(UserError, match="warmup_epochs 4 leaves none of the 4 epochs to the duals"):
        setting(text_params(warm | {parts: 4}), cell)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {f"{DUST}.lr": "1e-3"},
            "profiles.demo.video.models.dust is not right:\n  lr: Input should be a valid number",
        ),
        ({f"{DUST}.lr": 0}, "lr: Input should be greater than 0"),
        ({f"{DUST}.atoms": 60}, "atoms: a separable DCT dictionary needs a square number"),
        ({f"{BUDGET}.tokens": 1}, "tokens: Input should be greater than or equal to 2"),
        ({f"{DUST}.tokens": 1}, "tokens: Input should be greater than or equal to 2"),
        ({f"{DUST}.atom": 64}, "atom: unknown key"),
        ({f"{DUST}.layers": [0]}, "layers.0: Input should be greater than or equal to 1"),
    ],
)
def test_a_wrong_value_of_a_budget_is_refused_with_its_section(changes: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        budget_of(small_params(changes), "dust")
    assert told in str(error.value) and "pydantic" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"models.ut.residual": 1}, "models.ut is not right:\n  residual: Input should be a valid boolean"),
        ({"models.ut.residual": "true"}, "residual: Input should be a valid boolean"),
        ({"models.ut.arms": {"constrained": {"residul": True}}}, "residul: unknown key"),
    ],
)
def test_a_wrong_value_of_a_model_is_refused_with_its_section(changes: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        settings_by_arm(small_params(changes), "ut")
    assert told in str(error.value) and "pydantic" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"profiles.demo.data.ucsd": URL}, "data.ucsd is not right:\n  name exactly one of generate, path, url"),
        ({"profiles.demo.data.ucsd": {"generate": None} | URL}, "a url needs its sha256"),
        ({"profiles.demo.data.ucsd.sha256": "0" * 64}, "sha256 belongs to a url"),
        (
            {"profiles.demo.data.ucsd": {"generate": None, "sha256": "2329"} | URL},
            "sha256: String should match pattern",
        ),
    ],
)
def test_a_wrong_source_is_refused_with_its_section(changes: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        small_params(changes).source("video", "ucsd")
    assert told in str(error.value) and "profiles.demo.data.ucsd" in str(error.value)
