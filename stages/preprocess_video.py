"""Turn one raw video data set into arrays of gray frames in data/prepared/<dataset>."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.video.prepare import prepare


def main(dataset: str) -> None:
    """Decode, split by video, measure."""
    values = params.load()
    raw, out = (Path("data") / step / dataset for step in ("raw", "prepared"))
    prepare(dataset, raw, out, values.video.frame, values.budget.data[dataset], values.profile)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
