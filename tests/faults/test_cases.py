"""Every eighth of the cases that need no limits; `make faults` meets all of them."""

from pathlib import Path

import pytest

from tests.faults.case import Case, hastened
from tests.faults.cases import every

EVERY = every()


@pytest.mark.parametrize("case", [case for case in EVERY if not case.alone][::8], ids=str)
def test_bad_input_ends_in_one_sentence_or_is_handled(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    found = hastened(case, 30)
    assert not found, found


def test_no_two_cases_have_one_name() -> None:
    assert len({str(case) for case in EVERY}) == len(EVERY) >= 400
