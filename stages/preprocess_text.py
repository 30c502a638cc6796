"""Turn one raw text data set into one tokenizer's numbers in data/tokens/<dataset>/<tokenizer>."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.text.prepare import prepare


def main(dataset: str, tokenizer: str) -> None:
    """Hold out validation texts, make or read the tokenizer, tokenise."""
    values = params.load()
    budget = values.budget
    for kind, name, known in (
        ("text data set", dataset, budget.texts),
        ("tokenizer", tokenizer, budget.text.tokenizers),
    ):
        if name not in known:
            raise errors.UserError(f"unknown {kind} {name!r}; known: {', '.join(known)}")
    prepare(
        dataset,
        Path("data/raw") / dataset,
        Path("data/tokens") / dataset / tokenizer,
        budget.text.tokenizers[tokenizer],
        tokenizer,
        budget.text.max_tokens,
        values.text.validation_share,
        values.local_data,
        values.profile,
    )


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
