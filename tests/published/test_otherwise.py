"""The verdicts' models solved otherwise: which cells are laid beside which, and by how much they gain more."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import effects
from descent.analysis.claims import CLAIMS
from descent.analysis.select import select
from descent.analysis.verdicts import LEVEL, Estimate
from descent.analysis.wording import signed
from descent.published import otherwise, parts
from tests.fakes.evidence import Made, real_params
from tests.fakes.parts import published
from tests.fakes.results import change

SEEDS, SETTINGS, TESTED = 8, 4, 40
SETTING = ("dataset", "model", "layers")
CAP = {f"objectives.constrained.models.{model}.R0": 6.0 for model in ("ut", "dust")}
SHARED = {"models.dust.arms": {}}  # a pair of equal capacity
LAST = 5  # the deeper of the two depths


def made(gain: float, cost: float = 0.03, **of: tuple[str, ...]) -> pd.DataFrame:
    """Each gain has draws of its own."""
    cells = Made(SEEDS, noise=0.01)
    cells._generator = np.random.default_rng(round(1000 + 1000 * gain))
    return cells.video(gain, cost, **({"datasets": ("ucsd",)} | of)).table()


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(made(-0.05), tmp_path_factory.mktemp("counts") / "small-00000001", SHARED)


def beside(counts: Path, *apart: Path) -> otherwise.Found:
    return otherwise.beside(*parts.joined([counts]), [counts], apart, real_params())


def told(counts: Path, *apart: Path) -> dict[str, list[list[str]]]:
    """The cells of the rows of each claim's table."""
    found = otherwise.tables(beside(counts, *apart), real_params())
    chapters = found.split("\n\n") if found else []
    cells = [
        [[word.strip() for word in line.strip("|").split(" | ")] for line in table.split("\n")[2:]]
        for table in chapters[1::2]
    ]
    return dict(zip(chapters[::2], cells, strict=True))


def by_hand(results: pd.DataFrame, claim: str) -> np.ndarray:
    """The effects of a claim: settings, seeds, resamples."""
    own = select(effects.pairs(results, real_params()), claim=claim).sort_values(["resample", "seed"])
    return np.stack([rows["effect"].to_numpy().reshape(-1, SEEDS).T for _, rows in own.groupby(list(SETTING))])


def words(value: float, low: float, high: float) -> str:
    return f"{100 * value:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def test_all_settings_have_the_claims_mean_and_each_its_own_with_the_difference_by_seed(
    counts: Path, tmp_path: Path
) -> None:
    solved = made(0.02, cost=0.01)
    change(solved, 0.0, experiment="video", arm="constrained", layers=LAST, seed=0, metric="feasible")
    change(solved, 1.0, experiment="video", arm="constrained", model="ut", layers=LAST, seed=1, metric="diverged")
    found = told(counts, published(solved, tmp_path / "small-00000002", SHARED | CAP))
    assert len(found) == 2, "of the claims about video the gain and the price"
    for rows, claim in zip(found.values(), ("video_ood", "video_cost"), strict=True):
        mean, *alone = rows
        assert len(alone) == SETTINGS and mean[2] == f"all {SETTINGS}, trimmed mean"
        assert {row[1] for row in rows} == {"R0 = 6"}
        assert mean[0] == "[small-00000002](small-00000002/REPORT.md) / [small-00000001](small-00000001/REPORT.md)"
        there, here = (by_hand(results, claim) for results in (made(-0.05), solved))
        middle = [stats.trim_mean(effect, 0.25, axis=0) for effect in (there, here)]
        for column, effect in zip((3, 4), middle, strict=True):
            estimate = Estimate.of(effect, TESTED)
            assert mean[column] == words(estimate.value, *estimate.interval(LEVEL))
        for row, first, second in [(mean, *middle), *zip(alone, there, here, strict=True)]:
            gained = (second - first)[:, 0]
            assert row[5] == words(gained.mean(), *stats.ttest_1samp(gained, 0.0).confidence_interval(LEVEL))
        cells = SEEDS * SETTINGS
        assert mean[6:] == [f"{cells} / {cells - 3} of {cells}", f"0 / 1 of {2 * cells}"]
        deep = [row[6:] for row in alone if f"L = {LAST}" in row[2]]
        assert deep == [["8 / 7 of 8", "0 / 0 of 16"], ["8 / 6 of 8", "0 / 1 of 16"]]
        assert alone[0][2] == "DUST on UCSD, L = 3"


def test_two_parts_of_one_solver_make_up_the_mean_together(counts: Path, tmp_path: Path) -> None:
    halves = [
        published(made(0.02, models=(model,)), tmp_path / f"small-0000000{n}", SHARED | CAP)
        for n, model in enumerate(("ut", "dust"), 2)
    ]
    rows = next(iter(told(counts, *halves).values()))
    assert rows[0][2] == "all 4, trimmed mean" and "small-00000002](" in rows[0][0] and "3](" in rows[0][0]
    rows = next(iter(told(counts, halves[0]).values()))
    part = "2 of 4, mean"
    assert [row[2] for row in rows] == [part, *(f"UT on UCSD, L = {depth}" for depth in (3, LAST))]
    other = published(
        made(0.02, models=("dust",)), tmp_path / "small-00000004", SHARED | {"objectives.constrained.margin": 0.1}
    )
    rows = next(iter(told(counts, halves[0], other).values()))
    assert [row[1] for row in rows] == ["R0 = 6"] * 3 + ["margin = 0.1"] * 3
    assert [row[2] for row in rows[::3]] == [part, part], "two solvers have no mean in common"


def test_what_two_parts_solve_alike_is_told_of_each(counts: Path, tmp_path: Path) -> None:
    folders = [
        published(made(gain), tmp_path / f"small-0000000{n}", SHARED | CAP) for n, gain in ((2, 0.02), (3, 0.0))
    ]
    found = told(counts, *folders)
    assert len(found) == 2
    for rows in found.values():
        first, second = rows[: SETTINGS + 1], rows[SETTINGS + 1 :]
        assert all("small-00000002](" in row[0] for row in first) and first[0][2] == "all 4, trimmed mean"
        assert all("small-00000003](" in row[0] for row in second) and [r[2] for r in second] == [
            r[2] for r in first
        ]


def test_the_sentence_has_the_means_of_the_table_and_none_of_a_single_setting(
    counts: Path, tmp_path: Path
) -> None:
    folder = published(made(0.02, models=("ut",)), tmp_path / "small-00000002", SHARED | CAP)
    said = otherwise.sentence(beside(counts, folder), "RUNS.md")
    cap = real_params().objective("constrained", "ucsd", "ut")["R0"]
    assert said.startswith(f"**With R0 = 6 in place of {cap:g}** (2 of 4 settings): a gain of ")
    assert "](RUNS.md#the-models-behind-the-verdicts-solved-otherwise)" in said and cap != 6
    assert "untrimmed" not in said, "of two settings nothing is trimmed"
    whole = published(made(0.02), tmp_path / "small-00000004", SHARED | CAP)
    for part, trimmed in ((folder, False), (whole, True)):
        said = otherwise.sentence(beside(counts, part), "RUNS.md")
        tables = told(counts, part).values()
        for (claim, solvers), rows in zip(beside(counts, part).items(), tables, strict=True):
            what = {"gain": "gain", "cost": "price"}[CLAIMS[claim].kind]
            assert solvers and f"a {what} of {rows[0][4]} % where it was {rows[0][3]}" in said
            as_they_are = solvers[0][solvers[0]["resample"] == 0]
            plain = [signed(100 * as_they_are[side].mean()) for side in ("effect", "effect_counts")]
            told_too = trimmed and what == "gain"
            assert (f"(untrimmed {plain[0]} where it was {plain[1]})" in said) == told_too
    alone = published(made(0.02, models=("ut",), layers=(3,)), tmp_path / "small-00000003", SHARED | CAP)
    found = beside(counts, alone)
    assert otherwise.tables(found, real_params()) and otherwise.sentence(found, "RUNS.md") == ""


@pytest.mark.parametrize(
    "more",
    [
        {"models.ut.step_scale": 2.0, "models.dust.step_scale": 2.0},
        {"profiles.demo.video.epochs": 99},
        {"training.clip_norm": 7.0},
        {"video.evaluation.noise_draws": 7},
        {"video.noise_scale": 0.3},
        {"video.patch_loss": "mean"},
        {"video.tolerance": 0.5},
        {f"profiles.demo.video.models.{model}.lr": 0.5 for model in ("ut", "dust")},
    ],
    ids=str,
)
def test_what_differs_in_more_than_our_solver_is_laid_beside_nothing(
    counts: Path, tmp_path: Path, more: dict[str, object]
) -> None:
    assert told(counts, published(made(0.02), tmp_path / "small-00000002", SHARED | CAP | more)) == {}


def test_neither_are_other_seeds_nor_what_is_solved_alike(counts: Path, tmp_path: Path) -> None:
    assert told(counts, published(made(0.02), tmp_path / "small-00000002", SHARED)) == {}, (
        "nothing is solved otherwise"
    )
    moved = made(0.02)
    moved["seed"] += moved["layers"].gt(0).astype(int)
    assert told(counts, published(moved, tmp_path / "small-00000003", SHARED | CAP)) == {}
    unchanged = published(made(0.02), tmp_path / "small-00000005", SHARED | {"objectives.constrained.margin": 0.0})
    older = counts.parent / "small-00000006"
    shutil.copytree(counts, older)
    written = (older / "params.yaml").read_text()
    (older / "params.yaml").write_text(re.sub(r"^ +margin_start: .*\n", "", written, flags=re.MULTILINE))
    assert "margin_start" in written and told(older, unchanged) == {}, "an older part does not hold every value"
    fewer = made(0.02)
    assert told(counts, published(fewer[fewer["seed"] < 6], tmp_path / "small-00000004", SHARED | CAP)) == {}


def test_a_rate_of_our_arm_alone_is_told_with_what_it_solves(counts: Path, tmp_path: Path) -> None:
    ours = {f"profiles.demo.video.models.{model}.arms.constrained.lr": 0.5 for model in ("ut", "dust")}
    found = told(counts, published(made(0.02), tmp_path / "small-00000002", SHARED | CAP | ours))
    assert {row[1] for rows in found.values() for row in rows} == {"lr = 0.5 and R0 = 6"}


def test_a_mean_over_settings_takes_the_seeds_that_all_of_them_have(tmp_path: Path) -> None:
    def two_more(gain: float) -> pd.DataFrame:
        cells = Made(SEEDS + 2, noise=0.01).video(gain, datasets=("ucsd",), models=("dust",))
        return pd.concat([made(gain, models=("ut",)), cells.table()], ignore_index=True)

    names = ("small-00000001", "small-00000002")
    there, here = two_more(-0.05), two_more(0.02)
    folders = [
        published(own, tmp_path / name, SHARED | more)
        for own, name, more in zip((there, here), names, ({}, CAP), strict=True)
    ]
    for claim, rows in zip(("video_ood", "video_cost"), told(*folders).values(), strict=True):
        for column, own in ((3, there), (4, here)):
            effect = stats.trim_mean(by_hand(own[own["seed"] < SEEDS], claim), 0.25, axis=0)
            estimate = Estimate.of(effect, TESTED)
            assert rows[0][column] == words(estimate.value, *estimate.interval(LEVEL))
        assert rows[1][6] == f"{SEEDS + 2} / {SEEDS + 2} of {SEEDS + 2}", "a setting by itself has all of its own"


def texts(gain: float, models: tuple[str, ...] = ("ut_text", "distilbert")) -> pd.DataFrame:
    cells = Made(SEEDS, noise=0.01)
    for model in models:
        cells.accuracy("text", "imdb", model, gain)
    return cells.table()


STRICTER = {"objectives.constrained.margin": 0.02}


@pytest.fixture(scope="module")
def texts_count(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(texts(0.0), tmp_path_factory.mktemp("texts") / "small-00000001")


def test_of_texts_all_is_in_points_to_two_digits(texts_count: Path, tmp_path: Path) -> None:
    solved = texts(0.0123)
    folder = published(solved, tmp_path / "small-00000002", STRICTER)
    tables = otherwise.tables(beside(texts_count, folder), real_params())
    assert "counts, points | otherwise, points | difference, points" in tables and "%" not in tables
    for rows, claim in zip(told(texts_count, folder).values(), ("text_ood", "text_cost"), strict=True):
        assert rows[0][1:3] == ["margin = 0.02", "all 2, mean"]
        there, here = (by_hand(results, claim).mean(axis=0) for results in (texts(0.0), solved))
        for column, effect in zip((3, 4), (there, here), strict=True):
            estimate = Estimate.of(effect, TESTED)
            value, low, high = (100 * number for number in (estimate.value, *estimate.interval(LEVEL)))
            assert rows[0][column] == f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
    said = otherwise.sentence(beside(texts_count, folder), "RUNS.md")
    gained = next(iter(told(texts_count, folder).values()))[0]
    assert f"a gain of {gained[4]} points where it was {gained[3]}, a price of " in said


def test_a_pass_cut_in_parts_is_the_same_pass_and_other_texts_or_batches_are_not(
    texts_count: Path, tmp_path: Path
) -> None:
    parts_of = {f"profiles.demo.text.models.{model}.parts": 3 for model in ("ut_text", "distilbert")}
    cut = published(texts(0.02), tmp_path / "small-00000002", STRICTER | parts_of)
    assert len(told(texts_count, cut)) == 2
    for number, more in enumerate(({"text.length_pool": 2}, {"profiles.demo.text.batch": 7}), 3):
        other = published(texts(0.02), tmp_path / f"small-0000000{number}", STRICTER | more)
        assert told(texts_count, other) == {}
    (cut / "data.sha256").write_text(f"{'1' * 64}  imdb/bert\n")
    assert told(texts_count, cut) == {}


def test_an_arm_that_counts_epochs_is_told_with_its_parts(texts_count: Path, tmp_path: Path) -> None:
    slacks = {"objectives.constrained.resilience": "slacks"}
    slacks |= {
        f"objectives.constrained.models.{model}.resilience": "slacks" for model in ("ut_text", "distilbert")
    }
    parts_of = {f"profiles.demo.text.models.{model}.parts": 3 for model in ("ut_text", "distilbert")}
    whole = published(texts(0.0), tmp_path / "small-00000002", slacks)
    cut = published(texts(0.02), tmp_path / "small-00000003", slacks | parts_of)
    assert {row[1] for rows in told(whole, cut).values() for row in rows} == {"parts = 3"}


def test_cells_are_laid_beside_those_of_their_own_seed_where_parts_have_unlike_ones(tmp_path: Path) -> None:
    def moved(model: str, gain: float, first: int, number: int, **more: object) -> Path:
        own = texts(gain, (model,))
        trained = own["layers"].gt(0)
        own.loc[trained, "seed"] += first
        return published(own, tmp_path / f"small-0000000{number}", more)

    counting = [moved("ut_text", 0.0, 0, 1), moved("distilbert", 0.0, 24, 2)]
    for number, (first, found) in enumerate(((24, 2), (0, 0)), 3):
        apart = moved("distilbert", 0.02, first, number, **STRICTER)
        own = otherwise.beside(*parts.joined(counting), counting, [apart], real_params())
        tables = otherwise.tables(own, real_params())
        assert tables.count("DistilBERT on IMDb") == found
        assert tables.count(f"{SEEDS} / {SEEDS} of {SEEDS}") == found
