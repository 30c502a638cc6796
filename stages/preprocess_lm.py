"""Turn the raw instructions into the language model's tokens in data/tokens/alpaca."""

from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.lm.data import FOLDER
from descent.tasks.lm.prepare import prepare


def main() -> None:
    """Hold out validation and test instructions, make or read the tokenizer, tokenise."""
    values = params.load()
    budget, shares = values.budget.lm, (values.lm.validation_share, values.lm.test_share)
    prepare(
        Path("data/raw/alpaca"),
        FOLDER,
        budget.tokenizer,
        budget.prompt,
        budget.max_tokens,
        *shares,
        values.local_data,
        values.profile,
    )


if __name__ == "__main__":
    errors.run(main)
