"""The maps of gains: under the shifts of texts and of the language model, and of transfer."""

import math

import pandas as pd
import pytest

from descent.analysis.select import select
from descent.errors import UserError
from descent.figures.beyond import fig_lm_shifts, fig_shifts, fig_text_shifts, fig_transfer, table_shifts
from descent.figures.parts import style
from tests.fakes.results import COMPONENTS, change, fake_params, fake_results

KNOWN = COMPONENTS["shifts"] | {"fog": {"LABEL": "fog", "TASKS": ["text", "lm"], "ENERGY": False}}
FOG = {
    "components": COMPONENTS | {"shifts": KNOWN},
    "shifts": fake_params().shifts | {"fog": {"levels": [0.5, 1.0]}},
    "text.evaluation.shifts": ["gaussian", "fog"],
    "lm.evaluation.shifts": ["gaussian", "fog"],
    "video.datasets": [],
    "studies": [],
    "text.datasets": ["imdb"],
    "text.models": ["ut_text"],
}
TWO_SEEDS = {
    "video.datasets": ["ucsd", "avenue"],
    "video.models": ["dust"],
    "profiles.demo.video.seeds": [0, 1],
    "text.datasets": [],
    "lm.datasets": [],
    "studies": [],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry, model, shown",
    [(fig_text_shifts, "ut_text", "UT"), (fig_lm_shifts, "causal_lm", "causal language model")],
)
def test_the_map_shows_points_of_accuracy_level_by_level(entry, model: str, shown: str) -> None:
    params = fake_params(FOG)
    style.use(params)
    rows = fake_results(params)
    levels = rows["gamma"].isin([0.5, 1.0]) if model == "causal_lm" else rows["gamma"].isin([0.4, 1.0])
    other = rows[levels & (rows["metric"] == "accuracy") & (rows["shift"] == "gaussian") & (rows["bin"] == 0)]
    both = pd.concat([rows, other.assign(shift="fog")], ignore_index=True)
    scores = rows[(rows["metric"] == "accuracy_in_distribution_replicate") & (rows["shift"] == "gaussian")]
    both = pd.concat([both, scores.assign(shift="fog", metric="accuracy_replicate")], ignore_index=True)
    change(both, 0.6, shift="fog", model=model, arm="unconstrained", metric="accuracy_replicate")
    change(both, 0.7, shift="fog", model=model, arm="constrained", metric="accuracy_replicate")
    low = other["gamma"].min()
    for arm, value in (("constrained", 0.75), ("unconstrained", 0.5)):
        change(both, value, shift="fog", model=model, arm=arm, gamma=low, metric="accuracy")
    figure = entry.render(both, params)
    (axes,) = [axes for axes in figure.axes if axes.get_title() == f"{shown}\nconstrained"]
    squares = [text.get_text() for text in axes.texts]
    assert (
        squares[0] == "+25.0"
        and len(squares) == 2 + 1
        and squares[-1].startswith("+10.0")
        and squares[-1].endswith("points")
    )
    assert figure.axes[0].get_yticklabels()[0].get_text().startswith("fog\n")
    with pytest.raises(UserError, match="evaluate"):
        entry.render(select(both, shift="gaussian"), params)


def test_the_levels_whose_interval_over_seeds_holds_zero_are_told_from_the_others() -> None:
    params, at = fake_params(TWO_SEEDS), {"shift": "salt_and_pepper", "metric": "rmse"}
    style.use(params)
    rows = fake_results(params)
    change(rows, 10.0, **at, arm="unconstrained")
    known = {0.15: (0.199, 0.201), 0.3: (-0.1, 0.2), 0.45: (-0.2, -0.2), 0.6: (0.0, 0.0)}
    for gamma, gains in known.items():
        for seed, gain in enumerate(gains):
            change(rows, 10.0 * math.exp(-gain), **at, arm="constrained", gamma=gamma, seed=seed)
    figure = fig_shifts.render(rows, params)
    assert figure.get_supxlabel().endswith("slanted: the 95 % interval holds zero")
    alone = fig_shifts.render(select(rows, seed=0), params)
    assert alone.get_supxlabel().endswith("one seed, so no intervals")
    [axes] = [own for own in figure.axes if "\nconstrained" in own.get_title()]
    shown = {text.get_text(): text.get_style() for text in axes.texts[:4]}
    assert shown == {"+20.0": "normal", "+5.0": "italic", "-20.0": "normal", "+0.0": "italic"}
    table = table_shifts.display(table_shifts.build(rows, params), params)
    assert table["", "gain at each"].iloc[0] == "+20.0* +5.0 -20.0* +0.0"


def test_where_no_seed_is_common_to_all_settings_the_map_has_levels_and_no_mean() -> None:
    params = fake_params(TWO_SEEDS)
    style.use(params)
    rows, arm = fake_results(params), {"experiment": "video", "arm": "constrained"}
    gone = [select(rows, **arm, dataset=name, seed=seed).index for name, seed in (("ucsd", 0), ("avenue", 1))]
    for table, means in ((rows, 1), (rows.drop(gone[0]).drop(gone[1]), 0)):
        [axes] = [own for own in fig_shifts.render(table, params).axes if "\nconstrained" in own.get_title()]
        words = [text.get_text() for text in axes.texts]
        assert len(words) == len(params.video.evaluation.energies) + means and "nan" not in " ".join(words)


@pytest.mark.slow
def test_a_cell_that_diverged_stands_in_the_matrix_of_transfer_as_the_zero_map() -> None:
    params = fake_params({"text.datasets": [], "lm.datasets": [], "studies": [], "video.models": ["ut", "dust"]})
    style.use(params)
    rows = fake_results(params)
    lost = {"dataset": "ucsd", "model": "dust", "layers": 3, "eps": params.eps, "arm": "constrained"}
    gone = rows.drop(select(rows, **lost, experiment="video", metric="rmse").index).copy()
    change(gone, 1.0, **lost, metric="diverged")
    errors = []
    for table in (rows, gone):
        figure = fig_transfer.render(table, params)
        title = "DUST, constrained, $\\gamma=0.13$"
        [axes] = [axes for axes in figure.axes if axes.get_title() == title]
        errors.append({text.get_position(): float(text.get_text().split()[0]) for text in axes.texts})
    before, after = errors
    assert all(after[place] > 2 * before[place] for place in before if place[1] == 1), "all of those from UCSD"
    assert all(after[place] == before[place] for place in before if place[1] != 1)
