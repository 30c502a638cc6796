"""IMDb: film reviews, for or against."""

from random import Random

from descent.tasks.text.synthetic import reviews

LABEL = "IMDb"
TREE = (
    "train*.parquet and test*.parquet (or .jsonl, .csv) with the columns text and label,\n"
    "or the original train/pos/*.txt, train/neg/*.txt, test/pos/*.txt, test/neg/*.txt"
)
ADDRESS = "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz"
SIZE = {"train": 25000, "test": 25000, "tokens": 300}  # texts, and about how long they are, for estimates
CLASSES = ("negative", "positive")
FOLDERS = ("neg", "pos")
TRAIN = ("train",)
TEST = ("test",)
TEXTS = (("text",),)


def write(rng: Random, label: int) -> tuple[str]:
    """A made-up review."""
    return (reviews.write(rng, positive=label == 1),)
