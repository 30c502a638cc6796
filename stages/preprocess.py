"""python -m stages.preprocess <task> <dataset>: what the models in use read, in data/prepared.

Video: arrays of gray frames in data/prepared/<dataset>; text and language model: token numbers in
data/prepared/<dataset>/<tokenizer>, of the tokenizers that the models in use name.
"""

import sys

from descent import config, errors
from descent.components import of_task


def main(task: str, dataset: str) -> None:
    """Hold out validation data, decode or tokenise, measure."""
    of_task(task, "prepare").stage(config.load(), dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
