"""The words around an instruction."""

from descent.tasks.lm.prompts import prompt


def test_prompts_have_the_words_of_alpaca_or_headings_alone() -> None:
    assert prompt("plain", "Add.", "1 2") == "Instruction: Add.\nInput: 1 2\nResponse:\n"
    with_input, without = prompt("alpaca", "Add.", "1 2"), prompt("alpaca", "Add.")
    assert "paired with an input" in with_input and "### Input:\n1 2\n\n### Response:\n" in with_input
    assert "Input" not in without and without.endswith("### Instruction:\nAdd.\n\n### Response:\n")
