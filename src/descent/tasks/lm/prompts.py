"""The words around an instruction, the same when a model learns, is scored and completes."""

from descent.tasks.lm.schema import Style

INTRODUCTION = (
    "Below is an instruction that describes a task{}. Write a response that appropriately completes the request."
)
PAIRED = ", paired with an input that provides further context"


def prompt(style: Style, instruction: str, given: str = "") -> str:
    """All that stands before the response.

    Args:
        style: `alpaca`, the words of Stanford Alpaca, or `plain`, headings alone (for contexts of few tokens).
        given: the instruction's input, often empty.
    """
    parts = [("Instruction", instruction), *([("Input", given)] if given else []), ("Response", "")]
    if style == "plain":
        return "".join(f"{name}: {text}\n" if text else f"{name}:\n" for name, text in parts)
    introduction = INTRODUCTION.format(PAIRED if given else "")
    return "\n\n".join([introduction, *(f"### {name}:\n{text}" for name, text in parts)])
