"""Published parts judged as one: the published scorecard is that of its parts."""

from pathlib import Path

import pandas as pd

from descent.analysis import scorecard
from descent.analysis.select import select
from descent.published import parts, programme

ROOT = Path(__file__).parents[2] / "data/evidence"


def test_the_published_scorecard_is_that_of_its_parts() -> None:
    """Of one profile, the one that the README begins with; no number of it is typed by hand."""
    saved = pd.read_csv(ROOT / programme.CLAIMS).set_index("claim")
    found = scorecard.judged(*parts.joined(programme.parted(ROOT, "small")[0])).set_index("claim")
    assert list(saved.index) == list(found.index) and (saved["verdict"] == found["verdict"]).all()
    numbers = found.select_dtypes("number").columns
    pd.testing.assert_frame_equal(
        saved[numbers].astype(float), found[numbers].astype(float), rtol=1e-5, atol=1e-12
    )
    tested = select(saved.reset_index(), group="primary")
    assert len(tested) == 6
