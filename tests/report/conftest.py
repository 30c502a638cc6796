"""One project with its page, made once for all tests of the page."""

from pathlib import Path

import pytest

from descent.analysis import summary
from descent.config import Params
from stages import collect, figures, scorecard
from stages import report as report_stage
from tests.fakes.looks import keep_nothing
from tests.fakes.results import PARAMS, fake_params, fake_results
from tests.fakes.scores import write_scores

FIGURES = ["fig03_depth", "fig05_step_size", "fig08_video_tradeoffs"]
TABLES = ["table1_video_hyperparameters", "table3_video_rmse", "table4_text_auc"]
PARTS = {"video": ["fig03_depth", "fig08_video_tradeoffs", *TABLES[:2]], "text": ["fig05_step_size", TABLES[2]]}
LIBRARY = "window.vegaEmbed = () => null; // stands for the drawing library"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="package")
def params() -> Params:
    return fake_params()


@pytest.fixture(scope="package")
def project(params: Params, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which the stages made some figures and tables and the page from made-up scores."""
    root = tmp_path_factory.mktemp("project")
    (root / "data" / "scores").mkdir(parents=True)
    (root / "data" / "paper").symlink_to(ROOT / "data" / "paper")
    (root / "params.yaml").symlink_to(PARAMS)
    made_up = fake_results(params)
    broken = summary.select(made_up, dataset="avenue", model="ut", arm="constrained", layers=3, eps=0.13)
    made_up.loc[summary.select(broken, metric="feasible", split="validation").index, "value"] = 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("descent.config.load", lambda *_: params)
        write_scores(made_up, params)
        keep_nothing(params)
        collect.main()
        for part, names in PARTS.items():
            figures.main(part, *names)
        scorecard.main()
        patch.setattr("descent.report.plots_page.library", lambda: LIBRARY)
        report_stage.main()
    return root


@pytest.fixture(scope="package")
def text(project: Path) -> str:
    return (project / "figures/index.html").read_text()
