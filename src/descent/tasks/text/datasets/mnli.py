"""MNLI: whether a hypothesis follows from a premise. The matched part of the development set tests.

Its test texts are told apart by genre; those of the mismatched part, of genres that training has not seen, where
it is there.
"""

from descent.tasks.text.synthetic import pairs

LABEL = "MNLI"
TREE = (
    "train*.parquet and validation_matched*.parquet (or .jsonl, .csv) with the columns premise,\n"
    "hypothesis and label (and genre), or the original multinli_1.0_train.jsonl and multinli_1.0_dev_matched.jsonl"
)
ADDRESS = "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"
SIZE = {"train": 392702, "test": 9815, "tokens": 40}  # texts, and about how long they are, for estimates
CLASSES = ("entailment", "neutral", "contradiction")
TRAIN = ("train", "multinli_1.0_train")
TEST = ("validation_matched", "dev_matched", "multinli_1.0_dev_matched")
ELSEWHERE = ("validation_mismatched", "dev_mismatched", "multinli_1.0_dev_mismatched")  # of other genres
GROUP = "genre"
TEXTS = (("premise", "hypothesis"), ("sentence1", "sentence2"), ("text", "pair"))
write = pairs.write
