"""Runs that are judged alone: they join no claim, and each says what it says by every rule of one."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import grounds, scorecard
from descent.published import judged_alone, programme
from tests.fakes.evidence import Made, real_params
from tests.published.test_each_part import SHOWN, published

NAMES = ("small-00000001", "small-00000002")
WEAK = {"judged": "alone", "objectives.constrained.models.ut.alpha": 0.07}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """A part that counts, and one that asks for less and is judged alone."""
    rows = Made().video(models=("ut",), layers=(3,), datasets=("ucsd",)).table()
    return [published(tmp_path / NAMES[0], rows), published(tmp_path / NAMES[1], rows, **WEAK)]


def rewrite(folder: Path, name: str, change: object) -> None:
    path = folder / f"{name}.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)


def test_a_run_that_is_judged_alone_joins_no_claim_and_is_told_with_alpha_and_verdict(folders: list[Path]) -> None:
    assert programme.parted(folders[0].parent, "small") == (folders[:1], folders[1:])
    number = scorecard.judged(*grounds.load(folders[1])).set_index("claim").loc["video_ood"]
    assert number["verdict"] != "not tested", "else what follows asks for nothing"
    tables = judged_alone.table(folders[1:], real_params())
    assert tables.count(f"[{NAMES[1]}]") == tables.count("| UT on UCSD | alpha = 0.07, R0 = ") == len(SHOWN)
    assert f"| {100 * number['estimate']:.3g} % (" in tables and f"| **{number['verdict']}** |" in tables
    told = judged_alone.sentence(folders[1:], real_params())
    assert f": UT on UCSD ([{NAMES[1]}]({NAMES[1]}/REPORT.md)); [" in told, (
        "a run is named once, with all its claims"
    )
    assert judged_alone.table([], real_params()) == judged_alone.sentence([], real_params()) == ""


def test_a_run_that_tests_models_by_several_claims_names_all_of_them(folders: list[Path]) -> None:
    price = lambda found: found["claim"].eq("video_cost")  # noqa: E731
    rewrite(folders[1], "models", lambda found: found.assign(model=found["model"].mask(price(found), "dust")))
    told = judged_alone.sentence(folders[1:], real_params())
    assert f": UT on UCSD and DUST on UCSD ([{NAMES[1]}](" in told


def test_a_model_that_fails_a_precondition_has_its_reason_and_no_verdict(folders: list[Path]) -> None:
    run = folders[1]
    rewrite(run, "models", lambda found: found.assign(why="no study of twice the epochs of ut on ucsd"))
    rewrite(run, "claims", lambda found: found.assign(verdict="not tested"))
    tables = judged_alone.table([run], real_params())
    assert tables.count("| not tested: no study of twice the epochs of UT on UCSD |") == len(SHOWN)
    assert "**" not in tables and judged_alone.sentence([run], real_params()) == ""


def test_a_run_that_fails_as_a_whole_says_why_where_its_models_pass(folders: list[Path]) -> None:
    rewrite(folders[1], "claims", lambda found: found.assign(verdict="not tested", why="6 seeds; 8 are needed"))
    assert judged_alone.table(folders[1:], real_params()).count("| not tested: 6 seeds; 8 are needed |") == len(
        SHOWN
    )


def test_several_models_make_one_verdict_which_none_of_them_has_alone(folders: list[Path]) -> None:
    def of_two(models: pd.DataFrame) -> pd.DataFrame:
        own = models[models["claim"] == "video_ood"]
        return pd.concat([own.assign(datasets=name, estimate=value) for name, value in TWO.items()])

    TWO = {"ucsd": 0.5, "avenue": 0.7}
    rewrite(folders[1], "models", of_two)
    rows = [line for line in judged_alone.table(folders[1:], real_params()).splitlines() if NAMES[1] in line]
    together, *each = [row for row in rows if "part of" in row or "together" in row]
    assert "| together |" in together and together.count("**") == 2
    assert ["| 50." in each[0], "| 70." in each[1]] == [True, True] and len(each) == 2
    assert all("UT on" in row and row.endswith("| part of these together |") for row in each)


def test_lost_cells_of_both_arms_are_counted(folders: list[Path]) -> None:
    cells = pd.read_csv(folders[1] / "cells.csv")
    pairs = cells[(cells["experiment"] == "video") & cells["arm"].isin(["constrained", "unconstrained"])]
    assert f"| 0 of {len(pairs)} |" in judged_alone.table(folders[1:], real_params())
    rewrite(folders[1], "cells", lambda found: found.assign(diverged=found["arm"] == "unconstrained"))
    assert f"| {len(pairs) // 2} of {len(pairs)} |" in judged_alone.table(folders[1:], real_params())


def test_a_run_that_says_nothing_of_a_primary_claim_has_no_row(folders: list[Path]) -> None:
    rewrite(folders[1], "claims", lambda found: found[found["group"] != "primary"])
    assert judged_alone.table(folders[1:], real_params()) == ""
