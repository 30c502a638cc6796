"""The paper's tables, counted again in plain Python, on a table made by hand and on the paper's own."""

import csv
import math
from itertools import groupby
from pathlib import Path
from statistics import median

import pandas as pd
import pytest

from descent.analysis import paper_tables as paper
from descent.published.markdown import listed, pipe
from descent.published.paper_section import section

ROWS = [  # model, layers, epsilon, dataset, constrained, unconstrained
    ("DUST", 3, 0.0, "A", 20.0, 20.0),
    ("DUST", 3, 0.1, "A", 10.0, 12.0),
    ("DUST", 7, 0.0, "A", 19.0, 18.0),
    ("DUST", 7, 0.1, "A", 8.0, 14.0),  # the latter is 1.75 times the lowest of its neighbours
    ("UT", 3, 0.0, "A", 9.0, 10.0),
    ("UT", 3, 0.1, "A", 6.0, 5.0),
    ("UT", 7, 0.1, "A", 100.0, 5.5),
]
GAMMAS = [0.05 * step for step in range(13)]


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    columns = ["model", "layers", "epsilon", "dataset", "constrained", "unconstrained"]
    path = tmp_path / paper.VIDEO.name
    pd.DataFrame(ROWS, columns=columns).to_csv(path, index=False)
    return paper.read(path)


def sign_test(won: int, lost: int) -> float:
    """Twice the smaller tail of a fair coin, at most 1."""
    tail = sum(math.comb(won + lost, k) for k in range(min(won, lost) + 1)) / 2 ** (won + lost)
    return min(1.0, 2 * tail)


def plain(path: Path) -> list[dict]:
    with path.open() as file:
        return [
            row | {"layers": int(row["layers"]), **{key: float(row[key]) for key in ("epsilon", *paper.ARMS)}}
            for row in csv.DictReader(file)
        ]


def test_settings_are_counted_and_tested_by_hand(table: pd.DataFrame) -> None:
    whole = paper.counts(table).iloc[0]
    assert (whole["better"], whole["worse"], whole["tied"]) == (3, 3, 1)
    assert whole["p"] == pytest.approx(sign_test(3, 3)) == 1
    rows = {row["model"]: row for row in paper.counts(table, ["model"]).to_dict("records")}
    assert [rows["DUST"][key] for key in ("better", "worse", "tied")] == [2, 1, 1]
    assert rows["UT"]["p"] == pytest.approx(sign_test(1, 2))


def test_ties_alone_test_nothing(table: pd.DataFrame) -> None:
    tied = paper.counts(table.iloc[:1]).iloc[0]
    assert (tied["tied"], tied["p"]) == (1, 1.0)


def test_a_run_collapses_at_the_factor_and_not_below_it(table: pd.DataFrame) -> None:
    runs = paper.collapsed_video(table)
    assert runs["constrained"].tolist() == [False] * 6 + [True]
    assert runs["unconstrained"].tolist() == [False] * 3 + [True] + [False] * 3
    assert not paper.collapsed_video(table, 1.76)["unconstrained"].any()


def test_medians_leave_collapsed_settings_out(table: pd.DataFrame) -> None:
    gains = paper.median_gain(table, ["model"], paper.FACTOR).set_index("model")
    by_hand = median([0.0, 100 * math.log(12 / 10), 100 * math.log(18 / 19)])
    assert gains.loc["DUST", "gain"] == pytest.approx(by_hand) and gains.loc["DUST", "settings"] == 3
    everything = paper.median_gain(table, ["model"]).set_index("model")
    assert everything.loc["DUST", "settings"] == 4 and everything.loc["UT", "settings"] == 3


def test_the_noise_is_read_off_unconstrained_runs_without_training_noise(table: pd.DataFrame) -> None:
    row = paper.noise_scale(table, [0.0, 0.2, 0.4]).iloc[0]
    assert (row["runs"], row["rmse"], row["low"], row["high"]) == (2, 19.0, 18.0, 20.0)
    assert row["sigma"] * 255 * 0.2 == pytest.approx(row["rmse"])  # what the identity would score


def test_an_area_at_chance_is_collapsed() -> None:
    rows = {
        "dataset": ["IMDB", "IMDB", "MNLI"],
        "constrained": [1.0, 1.01, 0.66],
        "unconstrained": [1.8, 1.7, 0.7],
    }
    assert paper.collapsed_text(pd.DataFrame(rows))["constrained"].tolist() == [True, False, True]


@pytest.mark.parametrize(("path", "sign"), [(paper.VIDEO, 1), (paper.TEXT, -1)])
def test_the_papers_counts_are_those_of_plain_python(path: Path, sign: int) -> None:
    rows = plain(path)
    margins = [sign * (row["unconstrained"] - row["constrained"]) for row in rows]
    won, lost = sum(margin > 0 for margin in margins), sum(margin < 0 for margin in margins)
    found = paper.counts(paper.read(path)).iloc[0]
    assert (found["better"], found["worse"], found["tied"]) == (won, lost, len(rows) - won - lost)
    assert found["p"] == pytest.approx(sign_test(won, lost), rel=1e-9)
    assert (won, lost) == {paper.VIDEO: (74, 31), paper.TEXT: (57, 12)}[path]  # as data/paper/claims.csv says


def test_the_gain_of_dust_rises_with_depth_and_that_of_ut_falls() -> None:
    rows = sorted(plain(paper.VIDEO), key=lambda row: (row["model"], row["dataset"], row["epsilon"]))
    kept: dict[tuple, list[float]] = {}
    for _, group in groupby(rows, key=lambda row: (row["model"], row["dataset"], row["epsilon"])):
        near = list(group)
        bound = paper.FACTOR * min(row[arm] for row in near for arm in paper.ARMS)
        for row in near:
            if max(row["constrained"], row["unconstrained"]) < bound:
                gain = 100 * math.log(row["unconstrained"] / row["constrained"])
                kept.setdefault((row["model"], row["layers"]), []).append(gain)
    table = paper.by_depth(paper.read(paper.VIDEO)).set_index(["model", "layers"])
    for key, row in table.iterrows():
        assert row[f"factor {paper.FACTOR}"] == pytest.approx(median(kept[key]))
        assert row[f"settings, factor {paper.FACTOR}"] == len(kept[key])
    assert table[f"factor {paper.FACTOR}"].round(1).tolist() == [0.4, 3.8, 13.3, 4.1, 2.9, -3.3]


def test_one_setting_of_table_3_stands_there_twice() -> None:
    found = paper.repeated(paper.read(paper.VIDEO))
    assert found["dataset"].tolist() == ["Avenue", "ShanghaiTech"] and set(found["model"]) == {"ViT"}
    assert paper.repeated(paper.read(paper.TEXT)).empty


def test_the_section_holds_the_numbers_and_our_own_scale() -> None:
    words = section(GAMMAS, {"avenue": 0.2468})
    assert "| all settings | 74 | 31 | 0 |" in words and "| all settings | 57 | 12 | 3 |" in words
    assert "+13.3 (6)" in words and "| 0.247 |" in words and words.count("not run") == 2
    assert "5 constrained and 7 unconstrained runs" in words
    lines = [line for line in words.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in lines)


def test_markdown_survives_bars_and_lists_words() -> None:
    assert pipe(["a"], [["x|y\nz"]]).splitlines()[-1] == r"| x\|y z |"
    own = ([], ["a"], ["a", "b"], ["a", "b", "c"], ["a, b"], ["a", "b, c"])
    assert [listed(words) for words in own] == ["", "a", "a and b", "a, b and c", "a, b", "a; and b, c"]
