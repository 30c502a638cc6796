"""What claims would read with models solved otherwise in place: those models' own verdicts, where all are."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import scorecard
from descent.published import in_place, otherwise, parts
from tests.fakes.evidence import real_params
from tests.fakes.parts import published
from tests.published.test_otherwise import CAP, LAST, SHARED, made

NUMBERS = ["estimate", "low", "high", "p", "verdict"]
CLAIMS = ["video_ood", "video_cost"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(made(-0.05), tmp_path_factory.mktemp("counts") / "small-00000001", SHARED)


def rows(counts: Path, *apart: Path) -> pd.DataFrame:
    pairs, facts = parts.joined([counts])
    found = otherwise.beside(pairs, facts, [counts], apart, real_params())
    return in_place.table(found, pairs, facts, scorecard.judged(pairs, facts))


def card(folder: Path) -> pd.DataFrame:
    return scorecard.judged(*parts.joined([folder])).set_index("claim").loc[CLAIMS, NUMBERS]


def test_with_all_settings_replaced_claims_read_as_the_run_by_itself_would(counts: Path, tmp_path: Path) -> None:
    run = published(made(0.02, cost=0.01), tmp_path / "small-00000002", SHARED | CAP)
    found = rows(counts, run).set_index("claim")
    assert found.index.tolist() == CLAIMS and found["folders"].tolist() == [(run,)] * 2
    assert found["replaced"].tolist() == found["of"].tolist() == [4, 4]
    pd.testing.assert_frame_equal(found[NUMBERS], card(counts))
    instead = found[[f"{name}_instead" for name in NUMBERS]].set_axis(NUMBERS, axis=1)
    pd.testing.assert_frame_equal(instead, card(run))
    assert (found["verdict"] != found["verdict_instead"]).all(), "else the run tells nothing apart"


def test_settings_that_no_run_solves_otherwise_keep_what_counts(counts: Path, tmp_path: Path) -> None:
    others = made(0.02, models=("ut",), layers=(LAST,))
    found = rows(counts, published(others, tmp_path / "small-00000002", SHARED | CAP)).set_index("claim")
    assert found["replaced"].tolist() == [1, 1] and found["of"].tolist() == [4, 4]
    whole = made(-0.05)
    kept = whole[~(whole["model"].eq("ut") & whole["layers"].eq(LAST))]
    mixed = published(pd.concat([kept, others], ignore_index=True), tmp_path / "small-00000003", SHARED)
    instead = found[[f"{name}_instead" for name in NUMBERS]].set_axis(NUMBERS, axis=1)
    pd.testing.assert_frame_equal(instead, card(mixed))
    assert (found["estimate_instead"] != found["estimate"]).all()


def test_a_reader_sees_both_verdicts_and_nothing_where_there_is_no_such_run(counts: Path, tmp_path: Path) -> None:
    run = published(made(0.02, cost=0.01), tmp_path / "small-00000002", SHARED | CAP)
    found = rows(counts, run)
    lines = in_place.markdown(found).splitlines()
    assert lines[0] == in_place.WORDS
    for line, row in zip(lines[4:], found.to_dict("records"), strict=True):
        assert "| R0 = 6 | 4 of 4 |" in line and f"*{row['verdict']}*" in line
        assert line.endswith(f"| *{row['verdict_instead']}* |")
    assert in_place.markdown(rows(counts)) == ""


def test_a_claim_that_was_not_tested_has_no_row(tmp_path: Path) -> None:
    def few(gain: float) -> pd.DataFrame:
        cells = made(gain)
        return cells[cells["seed"] < 6]  # a primary claim asks for eight

    there = published(few(-0.05), tmp_path / "small-00000001", SHARED)
    here = published(few(0.02), tmp_path / "small-00000002", SHARED | CAP)
    pairs, facts = parts.joined([there])
    assert otherwise.beside(pairs, facts, [there], [here], real_params())["video_ood"]
    assert rows(there, here).empty and in_place.markdown(rows(there, here)) == ""
