"""What published parts say by themselves: what another part replaces is named, and in no count."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import grounds, scorecard
from descent.analysis.summary import cells_table
from descent.published import each_part, parts, run_folder
from tests.fakes.evidence import Made, real_params

SHOWN = ("video_ood", "video_cost")


def published(folder: Path, rows: pd.DataFrame, **changes: object) -> Path:
    """A part with the tables that this reads."""
    params = real_params({"video.datasets": sorted(set(rows["dataset"])), "text.datasets": ["imdb"], **changes})
    pairs, facts = grounds.of_results(rows, params)
    folder.mkdir()
    grounds.save(pairs, facts, folder)
    scorecard.judged(pairs, facts).to_csv(folder / "claims.csv", index=False)
    cells_table(rows, params).to_csv(folder / "cells.csv", index=False)
    scorecard.by_dataset(rows, params).to_csv(folder / "datasets.csv", index=False)
    scorecard.by_model(pairs, facts).to_csv(folder / "models.csv", index=False)
    (folder / "params.yaml").write_text(run_folder.parameters(params))
    return folder


@pytest.mark.slow
def test_what_another_part_replaces_is_told_of_its_data_set_and_counted_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Made().video(models=("ut",), layers=(3,)).table()
    folders = [published(tmp_path / "small-1", rows), tmp_path / "small-2"]
    monkeypatch.setattr(parts, "replaced_by_claim", lambda folders: {})
    whole = each_part.table(folders, [], real_params())
    assert whole.count("| small-1 |") == 6, "two claims, of all data sets and of each"
    assert ", not counted" not in whole
    monkeypatch.setattr(
        parts, "replaced_by_claim", lambda folders: {claim: {("ucsd", "ut", 0)} for claim in SHOWN}
    )
    told = each_part.table(folders, [], real_params()).splitlines()
    marked = [line for line in told if line.endswith(", not counted |")]
    assert len(marked) == 4, "two claims, of all data sets, and of UCSD"
    assert (
        not [line for line in marked if "| Avenue |" in line] and sum("| Avenue |" in line for line in told) == 2
    )
