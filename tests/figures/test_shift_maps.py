"""The maps of gains under the shifts of texts and of the language model."""

import pandas as pd
import pytest

from descent.analysis.select import select
from descent.errors import UserError
from descent.figures.beyond import fig_lm_shifts, fig_text_shifts
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
