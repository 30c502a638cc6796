"""What published parts say by themselves: what another part replaces is named, and in no count."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import effects, grounds, parts, scorecard
from descent.analysis.summary import cells_table
from descent.report import each_part, evidence, programme
from tests.fakes.evidence import Made, real_params

SHOWN = ("video_ood", "video_cost")


def published(folder: Path, rows: pd.DataFrame, **changes: object) -> Path:
    """A part with the tables that this reads."""
    params = real_params({"video.datasets": sorted(set(rows["dataset"])), "text.datasets": ["imdb"], **changes})
    pairs = effects.pairs(rows, params)
    folder.mkdir()
    grounds.save(pairs, facts := grounds.facts(pairs, rows, params), folder)
    scorecard.judged(pairs, facts).to_csv(folder / "claims.csv", index=False)
    cells_table(rows, params).to_csv(folder / "cells.csv", index=False)
    scorecard.by_dataset(rows, params).to_csv(folder / "datasets.csv", index=False)
    scorecard.by_model(pairs, facts).to_csv(folder / "models.csv", index=False)
    (folder / "params.yaml").write_text(evidence.parameters(params))
    return folder


@pytest.mark.slow
def test_what_another_part_replaces_is_told_of_its_data_set_and_counted_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Made().video(models=("ut",), layers=(3,)).table()
    folders = [published(tmp_path / "small-1", rows), tmp_path / "small-2"]
    monkeypatch.setattr(parts, "gone", lambda folders: {})
    assert each_part.not_counted(folders, real_params()) == ""
    whole = each_part.counted(folders)
    assert "give 6 more verdicts" in whole, "two claims, of all data sets and of each"
    monkeypatch.setattr(parts, "gone", lambda folders: {claim: {("ucsd", "ut", 0)} for claim in SHOWN})
    told = each_part.not_counted(folders, real_params())
    assert told.count("small-1 (UT on UCSD) on") == 4, "two claims, of all data sets, and of UCSD"
    assert "Avenue" not in told
    assert "give 2 more verdicts" in each_part.counted(folders), "those of Avenue stay"
    assert each_part.table(folders, real_params()).count("| small-1 |") == 6


def test_what_is_judged_alone_joins_no_claim_and_is_told_with_its_alpha_and_verdict(tmp_path: Path) -> None:
    rows = Made().video(models=("ut",), layers=(3,), datasets=("ucsd",)).table()
    names = ("small-00000001", "small-00000002")
    weak = {"judged": "alone", "objectives.constrained.models.ut.alpha": 0.07}
    folders = [published(tmp_path / names[0], rows), published(tmp_path / names[1], rows, **weak)]
    assert programme.parted(tmp_path, "small") == (folders[:1], folders[1:])
    assert programme.parted(tmp_path, "small")[0] == folders[:1]
    told = each_part.alone(folders[1:], real_params())
    number = scorecard.judged(*grounds.load(folders[1])).set_index("claim").loc["video_ood"]
    assert f"{100 * number['estimate']:.3g} %" in told and f"*{number['verdict']}*" in told
    assert told.count(f"{names[1]} (UT on UCSD, alpha = 0.07): ") == 1 and told.count("*: ") == len(SHOWN)
    assert each_part.alone([], real_params()) == ""
    cells = pd.read_csv(folders[1] / "cells.csv")
    count = len(cells[cells["experiment"] == "video"].query("arm in ['constrained', 'unconstrained']"))
    cells.assign(diverged=cells["arm"] == "unconstrained").to_csv(folders[1] / "cells.csv", index=False)
    lost = f"alpha = 0.07; {count // 2} of {count} cells diverged, and count as if they had learned nothing): "
    assert "diverged" not in told and lost in each_part.alone(folders[1:], real_params())
    models = pd.read_csv(folders[1] / "models.csv")
    models = models[models["claim"] == "video_ood"]
    models = pd.concat(
        [models.assign(datasets=name, estimate=value) for name, value in (("ucsd", 0.5), ("avenue", 0.7))]
    )
    models.to_csv(folders[1] / "models.csv", index=False)
    several = each_part.alone(folders[1:], real_params())
    assert f"{names[1]} (UT on UCSD and Avenue, alpha = 0.07" in several
    assert "(UT on UCSD 50 % " in several and "UT on Avenue 70 % " in several
    card = pd.read_csv(folders[1] / "claims.csv")
    card[card["group"] != "primary"].to_csv(folders[1] / "claims.csv", index=False)
    assert each_part.alone(folders[1:], real_params()) == "", "it says nothing of a primary claim"
