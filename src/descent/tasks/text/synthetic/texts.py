"""Made-up texts with labels that a small model can learn, though never all of them."""

from collections.abc import Callable
from random import Random

import pandas as pd

from descent.errors import UserError
from descent.tasks.text.schema import GenerateTexts
from descent.tasks.text.synthetic import pairs as synthetic_pairs
from descent.tasks.text.synthetic import reviews as synthetic_reviews

NOISE = 0.03  # share of the texts that carry a label drawn from the other classes
Example = tuple[str, ...]  # one text, or a premise and a hypothesis
WRITERS: dict[str, tuple[int, Callable[[Random, int], Example]]] = {
    "imdb": (2, lambda rng, label: (synthetic_reviews.write(rng, positive=label == 1),)),
    "mnli": (3, synthetic_pairs.write),
}


def generate(name: str, wanted: GenerateTexts) -> dict[str, pd.DataFrame]:
    """The training and the test part of a demo data set; the same seed gives the same texts.

    Returns:
        train and test, with the columns text, pair (mnli only) and label (int64); classes are about as frequent.

    Raises:
        UserError: there are no templates of that name.
    """
    if name not in WRITERS:
        raise UserError(f"data set {name!r} cannot be generated; there are templates for {', '.join(WRITERS)}")
    return {
        split: _part(name, count, Random(f"{name} {split} {wanted.seed}"))
        for split, count in (("train", wanted.train_texts), ("test", wanted.test_texts))
    }


def _part(name: str, count: int, rng: Random) -> pd.DataFrame:
    classes, write = WRITERS[name]
    rows = []
    for number in range(count):
        label = number % classes
        example = write(rng, label)
        if rng.random() < NOISE:
            label = (label + rng.randrange(1, classes)) % classes
        rows.append((*example, label))
    rng.shuffle(rows)
    columns = ["text", "pair", "label"] if len(rows[0]) == 3 else ["text", "label"]
    return pd.DataFrame(rows, columns=columns).astype({"label": "int64"})
