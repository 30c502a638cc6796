"""Made-up texts with labels that a small model can learn, though never all of them."""

from collections.abc import Callable
from random import Random

import pandas as pd

from descent.tasks.text.schema import GenerateTexts

NOISE = 0.03  # share of the texts that carry a label drawn from the other classes
Example = tuple[str, ...]  # one text; or a premise, a hypothesis and their kind
COLUMNS = {1: ["text"], 3: ["text", "pair", "group"]}  # by how much an example is
Writer = Callable[[Random, int], Example]


def generate(dataset: str, classes: int, write: Writer, wanted: GenerateTexts) -> dict[str, pd.DataFrame]:
    """The training and the test part of a demo data set; the same name and seed give the same texts.

    Args:
        write: makes up an example of a label from 0 to `classes` - 1.

    Returns:
        train and test, with the columns text, pair and group (of pairs) and label (int64); classes are about as
        frequent.
    """
    return {
        split: _part(count, classes, write, Random(f"{dataset} {split} {wanted.seed}"))
        for split, count in (("train", wanted.train_texts), ("test", wanted.test_texts))
    }


def _part(count: int, classes: int, write: Writer, rng: Random) -> pd.DataFrame:
    rows = []
    for number in range(count):
        label = number % classes
        example = write(rng, label)
        if rng.random() < NOISE:
            label = (label + rng.randrange(1, classes)) % classes
        rows.append((*example, label))
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=[*COLUMNS[len(rows[0]) - 1], "label"]).astype({"label": "int64"})
