"""Formulas in plain words as MathML, and what is none left as it is."""

import pytest

from descent.report.mathematics import formula, mathematics


def inside(text: str) -> str:
    return str(formula(text)).removeprefix("<math><mrow>").removesuffix("</mrow></math>")


def test_letters_signs_and_scripts() -> None:
    assert inside("gamma <= eps") == "<mi>γ</mi><mo>≤</mo><mi>ϵ</mi>"  # noqa: RUF001
    assert inside("f_{l-1}/g_0") == (
        "<msub><mi>f</mi><mrow><mi>l</mi><mo>−</mo><mn>1</mn></mrow></msub><mo>/</mo>"  # noqa: RUF001
        "<msub><mi>g</mi><mn>0</mn></msub>"
    )
    assert inside("R0") == "<msub><mi>R</mi><mn>0</mn></msub>"
    assert inside("(1 - alpha)^l").endswith('<msup><mo stretchy="false">)</mo><mi>l</mi></msup>')


@pytest.mark.parametrize(
    "text",
    [
        "0-255, 0.15 to 1 / 2",
        "text.eps and video.evaluation.gammas",
        "a word_with_scores, RoBERTa-IMDb",
        "alphabet, lambdas",
        "L = 3, per_layer",
    ],
)
def test_numbers_and_names_of_parameters_are_no_formulas(text: str) -> None:
    assert str(mathematics(text)) == text


def test_words_around_are_escaped_and_code_is_code() -> None:
    found = str(mathematics("a < b & `eps` where gamma > eps."))
    assert found.startswith("a &lt; b &amp; <code>eps</code> where <math>") and found.endswith("</math>.")
    assert found.count("<math>") == 1
