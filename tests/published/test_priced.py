"""What descent cost in published runs, beside the closed form."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import price
from descent.analysis.wording import UNKNOWN
from descent.published import files, priced, programme
from tests.fakes.results import fake_params

ROOT = Path(__file__).parents[2] / "data/evidence"


def row(model: str, tied: bool, paid: float, expected: float = np.nan) -> dict[str, object]:
    return {"model": model, "dataset": "ucsd", "tied": tied, "held": 1.0, "paid": paid, "expected": expected}


def test_a_row_for_each_model_says_how_many_of_its_settings_lie_near_the_form() -> None:
    found = pd.DataFrame(
        [
            row("dust_per_layer", False, 0.0),
            row("dust_per_layer", False, np.log(1.1)),
            row("ut", True, 0.129, 0.1),  # .1 + .02 + a tenth of .1 is .13
            row("ut", True, 0.131, 0.1),
            row("ut", True, 0.5) | {"held": 0.875},
        ]
    )
    _, _, *rows = priced.table(found, fake_params()).splitlines()
    mean, none = np.exp((0.129 + 0.131 + 0.5) / 3), f"{UNKNOWN} | {UNKNOWN} | {UNKNOWN}"
    assert rows == [
        f"| one map | UT | UCSD | 3 | 2 | {mean:.2f} (1.14 to 1.65) | 1.14 | 1.11 | 1 of 2 |",
        f"| maps of their own | DUST, a dictionary a layer | UCSD | 2 | 2 | 1.05 (1.00 to 1.10) | {none} |",
    ]
    assert priced.table(pd.DataFrame(), fake_params()) == ""


def test_what_is_published_is_what_the_runs_tell() -> None:
    """Of one run; no number of it is typed by hand."""
    folder = ROOT / "small-9ecb5140"
    found = priced.settings([folder]).set_index(price.PAID_AT)
    saved = pd.read_csv(ROOT / programme.PRICES, dtype={"varied": str}).fillna({"varied": ""})
    saved = saved[saved["run"] == folder.name].set_index(price.PAID_AT)
    numbers = ["share", "cap", "held", "paid", "paid_low", "paid_high", "expected"]
    pd.testing.assert_frame_equal(saved[numbers], found[numbers].astype(float), rtol=1e-5, check_dtype=False)
    assert set(saved["tied"]) == {True} and found["expected"].notna().all()


def test_the_form_knows_the_margin_of_each_of_a_study() -> None:
    found = priced.settings([ROOT / "small-9ecb5140"])
    margins = found[found["experiment"] == "controls_margin_ut"].set_index("varied")
    assert margins["share"].tolist() == pytest.approx([0.22 + float(margin) for margin in margins.index])
    assert len(margins) == 3 and 0.02 not in map(float, margins.index), "the grid's margin is the grid's"
    assert margins["expected"].is_monotonic_increasing


def test_runs_without_videos_have_no_settings() -> None:
    texts = [ROOT / "small-c9d37fcc"]
    assert "video" not in files.params(texts[0]).tasks
    assert priced.settings(texts).empty and priced.settings([]).empty
