"""The report page: everything that stands in figures/, nothing from elsewhere."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import asked
from descent.analysis.verdicts import VERDICTS
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.errors import UserError
from descent.report import overview
from descent.report import page as report
from descent.report.mathematics import mathematics
from stages import collect, figures
from stages import report as report_stage
from tests.fakes.html import Page
from tests.fakes.results import fake_params
from tests.report.conftest import FIGURES, LIBRARY, TABLES

pytestmark = pytest.mark.slow  # the page is made first

DRAWN = {"curves": [], "arms": [], "datasets": []}


def test_the_page_loads_nothing_and_links_only_to_files_beside_it(project: Path, text: str) -> None:
    page = Page(text)
    assert len(page.loaded) == len(FIGURES) and all(
        src.startswith("data:image/png;base64,") for src in page.loaded
    )
    assert not re.search(r"https?://|url\(|@import", re.sub(r"base64,[A-Za-z0-9+/=]+", "", text))
    files = [link for link in page.links if not link.startswith("#")]
    assert len(files) == 3 * len(FIGURES) + 3 * len(TABLES), "a picture leads to itself at full size"
    assert all((project / "figures" / link).exists() for link in files)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.names)


def test_the_page_shows_every_entry_in_the_papers_order(text: str) -> None:
    heads = [values["id"] for values in Page(text).of("h2")]
    assert heads == ["scorecard", "overview", "explore-head", *FIGURES, *TABLES, "left_out", "provenance"]
    contents = text[text.index("<nav") : text.index("</nav")]
    wanted = ["scorecard", "overview", "explore", *FIGURES, *TABLES, "left_out"]
    assert [link[1:] for link in Page(contents).links] == wanted
    assert text.index("</nav") < text.index('id="scorecard"')
    assert text.count('href="#top"') == len(heads) - 2, "of neither the first nor the foot"


def test_an_entry_has_its_caption_parameters_profile_and_maker(project: Path, text: str) -> None:
    words = " ".join(" ".join(Page(text).words).split())
    sidecar = json.loads((project / "data/shown/video/fig03_depth.json").read_text())
    assert str(mathematics(sidecar["caption"])) in text and f"Figure 3: {sidecar['title']}" in words
    assert all(name in words for name in sidecar["parameters"]) and len(sidecar["parameters"]) > 1
    assert str(sidecar["parameters"]["video.evaluation.gammas"]) in words
    assert "figures@video" in words and "src/descent/figures/video/fig03_depth.py" in words
    assert "profile: demo" in words and "The data are synthetic." in words
    assert "mean over <math><mrow><mi>γ</mi><mo>≤</mo><mi>ϵ</mi></mrow></math>" in text  # noqa: RUF001


def test_tables_are_real_tables(project: Path, text: str) -> None:
    sidecar = json.loads((project / "data/shown/video/table3_video_rmse.json").read_text())
    bold = next(cell for row in sidecar["rows"] for cell in row if cell.startswith("**"))
    assert f"<strong>{bold.strip('*')}</strong>" in text and "**" not in text
    assert '<th scope="colgroup" colspan="6" class="group">UCSD</th>' in text
    assert all(str(mathematics(note)) in text for note in sidecar["notes"])


def test_the_overview_counts_and_lists_infeasible_cells(params: Params, text: str) -> None:
    grid = params.budget.video
    cells = 3 * (2 * len(grid.layers) + 1) * len({*grid.eps, params.eps})  # ViT has one depth
    texts = params.budget.text
    trained = 2 * (2 + 1 + 1) * len({*texts.eps, params.text.eps}) * len(texts.seeds)  # UT has two depths
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", text)]
    of = {(row[0], row[1]): row[2:] for row in rows if len(row) == 9}
    count = f"{cells} of {cells}"
    assert of["video", "constrained"][:3] == [str(cells), f"{cells - 1} of {cells}", count]
    assert of["video", "unconstrained"][1:5] == ["–"] * 4, "nothing is asked of it"  # noqa: RUF001
    assert of["text", "constrained"][1] == f"{trained} of {trained}" and of["lm", "constrained"][-1] == "0 of 1"
    assert of["text", "constrained"][3] == "–", "the fakes have no multipliers"  # noqa: RUF001
    words = " ".join(" ".join(Page(text).words).split())
    assert "The infeasible video cells (1)" in words and "The infeasible text cells" not in words
    assert "<td>avenue</td><td>constrained</td><td>ut</td><td>3</td><td>0.13</td>" in text


def test_constraints_that_only_the_cap_makes_active_do_not_count(params: Params, project: Path) -> None:
    cells = pd.read_csv(project / "data/summary.csv").assign(active=1.0, descent_active=0.0)
    first, *_ = (row for row in overview.held(cells, params) if row["arm"] == "constrained")
    assert first["active"] == f"0 of {first['cells']}"


def test_measures_stand_in_words_with_a_column_for_each_arm(params: Params) -> None:
    metrics = {"video": {"rmse_in_distribution": {"constrained": 5.25}, "wins_share": 0.5, "of_my_own": 2.0}}
    rows = overview.measures(metrics, params)
    assert [row["by_arm"] for row in rows] == [["5.25", UNKNOWN, UNKNOWN], [], []]
    assert [row["whole"] for row in rows] == ["", "0.5", "2"]
    assert rows[0]["name"].startswith("RMSE up to the training level") and rows[2]["name"] == "of my own"


def test_the_page_and_its_inputs_are_the_same_bytes_again(params: Params, project: Path, monkeypatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr("descent.config.load", lambda *_: params)
    files = [path for path in [*project.glob("figures/**/*"), *project.glob("data/*.*")] if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    collect.main()
    figures.main("video", "fig03_depth", "table3_video_rmse")
    monkeypatch.setattr("descent.report.plots_page.library", lambda: LIBRARY)
    report_stage.main()
    assert len(files) > 10 and before == {path: path.read_bytes() for path in files}


def test_real_data_bring_no_notice(params: Params, project: Path, tmp_path: Path) -> None:
    (tmp_path / "video").mkdir()
    for path in (project / "figures").glob("video/fig03*"):
        (tmp_path / "video" / path.name).write_bytes(path.read_bytes())
    sidecar = json.loads((project / "data/shown/video/fig03_depth.json").read_text()) | {
        "profile": "small",
        "synthetic": False,
    }
    (tmp_path / "video/fig03_depth.json").write_text(json.dumps(sidecar))
    card, cells = (pd.read_csv(project / "data" / f"{name}.csv") for name in ("scorecard", "summary"))
    card = card.assign(why="3 seeds, and 8 are needed")
    page = report.page(tmp_path, tmp_path, cells.assign(profile="small"), {}, card, params, DRAWN, "")
    assert "synthetic" not in page and "profile: small" in page
    made = (tmp_path / "video/fig03_depth.json").write_text(json.dumps(sidecar | {"synthetic": True}))
    page = report.page(tmp_path, tmp_path, cells.assign(profile="small"), {}, card, params, DRAWN, "")
    assert made and "The data are synthetic, some of them." in page and "The demo profile" not in page


def test_nothing_to_show_and_a_missing_picture_are_told(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no figure or table yet"):
        report.entries(tmp_path, tmp_path)
    (tmp_path / "video").mkdir()
    (tmp_path / "video/fig03_depth.json").write_text((project / "data/shown/video/fig03_depth.json").read_text())
    with pytest.raises(UserError, match=r"lacks video/fig03_depth.pdf, video/fig03_depth.png"):
        report.entries(tmp_path, tmp_path)


def test_figures_of_another_profile_than_the_results_are_refused(project: Path) -> None:
    found = report.entries(project / "figures", project / "data/shown")
    cells = pd.read_csv(project / "data/summary.csv")
    assert report.one_profile(found, cells) == "demo"
    found[1]["profile"] = "paper"
    with pytest.raises(UserError, match=f"of the profile demo, but not {found[1]['name']}: run `dvc repro`"):
        report.one_profile(found, cells)
    with pytest.raises(UserError, match="of the profile demo and small"):
        report.one_profile([], pd.concat([cells, cells.assign(profile="small")]))


def test_the_scorecard_comes_first_and_each_claim_links_to_what_shows_it(project: Path, text: str) -> None:
    words = " ".join(" ".join(Page(text).words).split())
    card = pd.read_csv(project / "data/scorecard.csv")
    counted = card["verdict"].value_counts()
    told = ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS if verdict in counted)
    assert f"{len(card)} claims: {told}. The data are synthetic, so no claim is tested" in words
    assert "The rule" in words and "imdb 400, mnli 400" in words and "K = 3, n = " in words
    assert text.index('id="scorecard"') < text.index("<img") and text.count('<td role="cell">Video: ') == 6
    assert text.index(">primary</th>") < text.index(">exploratory</th>")
    depth = card.set_index("claim").loc["video_depth"]
    assert text.count('href="#fig03_depth"') == 2 and text.count(depth["statement"]) == 2
    assert "sign-flip p" in words and "no effect of interest" in words


def test_words_of_the_scorecard_are_escaped(params: Params, project: Path) -> None:
    card = pd.read_csv(project / "data/scorecard.csv").astype({"statement": object})
    card.loc[0, "statement"] = '<script>f_1 < f_0 & "so"</script>'
    cells = pd.read_csv(project / "data/summary.csv")
    page = report.page(project / "figures", project / "data/shown", cells, {}, card, params, DRAWN, "")
    assert page.count("<script") == 5 and "&lt;script&gt;f_1 &lt; f_0 &amp; &#34;so&#34;" in page


def test_the_page_names_the_arms_and_what_is_left_out(params: Params, project: Path, text: str) -> None:
    words = " ".join(" ".join(Page(text).words).split())
    assert "deep supervision deep_supervision" in words and "constrained constrained ours holds its cells" in words
    assert f"Left out: {'; '.join(asked.left_out(params))}." in words
    card, cells = (pd.read_csv(project / "data" / f"{name}.csv") for name in ("scorecard", "summary"))
    few = fake_params({"lm.datasets": [], "studies": ["alpha", "dual_lr", "infeasible"]})
    told = f"Left out: {'; '.join(asked.left_out(few))}."
    assert told.startswith("Left out: lm (lm.datasets is empty); of the studies resilience, ")
    rest = cells[cells["experiment"] != "lm"]
    assert told in report.page(project / "figures", project / "data/shown", rest, {}, card, few, DRAWN, "")


def test_an_entry_that_is_left_out_is_named_at_the_end_and_has_no_section(
    project: Path, params: Params, tmp_path: Path
) -> None:
    shown = tmp_path / "shown"
    shutil.copytree(project / "data/shown", shown)
    sidecar = next(shown.glob("*/fig03_depth.json"))
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"left_out": "for a reason"}))
    card, cells = (pd.read_csv(project / "data" / f"{name}.csv") for name in ("scorecard", "summary"))
    page = report.page(project / "figures", shown, cells, {}, card, params, DRAWN, "")
    assert 'id="fig03_depth"' not in page and 'href="#fig03_depth"' not in page
    assert "(for a reason)" in page[page.index('id="left_out"') :]


def test_a_table_without_rows_is_shown(params: Params, project: Path, tmp_path: Path) -> None:
    (tmp_path / "video").mkdir()
    for path in (project / "figures").glob("video/table3*"):
        (tmp_path / "video" / path.name).write_bytes(path.read_bytes())
    sidecar = json.loads((project / "data/shown/video/table3_video_rmse.json").read_text()) | {
        "rows": [],
        "notes": ["left out: why"],
    }
    (tmp_path / "video/table3_video_rmse.json").write_text(json.dumps(sidecar))
    card, cells = (pd.read_csv(project / "data" / f"{name}.csv") for name in ("scorecard", "summary"))
    assert "left out: why" in report.page(tmp_path, tmp_path, cells, {}, card, params, DRAWN, "")


def test_words_of_a_table_are_escaped() -> None:
    assert str(report.markup("a < b **1.0**")) == "a &lt; b <strong>1.0</strong>"
