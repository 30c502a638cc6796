"""Tokenised instructions of the right number and length without a download."""

from pathlib import Path

from descent.config import Params
from descent.costs.shapes import vocabulary
from descent.costs.standins.text import fill, size


def write(params: Params, dataset: str, model: str, folder: Path, shrink: int) -> None:
    """What preprocess_lm would leave in `folder`; a response is the second half of its text.

    Raises:
        UserError: the data set's file says no SIZE, or the size of a vocabulary is not known.
    """
    source = params.source("lm", dataset)
    said = size("lm", dataset)
    lm = params.lm
    every = source.generate.instructions if source.generate else min(said["train"], source.instructions or 10**9)
    texts = {"validation": round(every * lm.validation_share), "test": round(every * lm.test_share)}
    texts = {"train": every - sum(texts.values()), **texts}
    length = min(said["tokens"], params.budget.lm.max_tokens)
    facts = {
        "vocabulary": vocabulary(params, "lm", model) // shrink,
        "begin": 1,
        "end": 2,
        "max_tokens": params.budget.lm.max_tokens,
    }
    fill(folder, dataset, params.tokenizer(model), texts, length, label=length // 2, facts=facts)
