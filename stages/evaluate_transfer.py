"""python -m stages.evaluate_transfer: video models on clips of other data sets, text models by kinds of text."""

import pandas as pd

from descent import config, errors, paths
from descent.analysis import results
from descent.runner import executor
from descent.tasks.text import transfer as kinds
from descent.tasks.video import transfer


def main() -> None:
    """Write data/scores/transfer.parquet; without rows where there is nothing else to test on."""
    params = config.load()
    executor.use(params)
    results.write(pd.concat([transfer.of_all(params), kinds.of_all(params)]), paths.TRANSFER_SCORES)


if __name__ == "__main__":
    errors.run(main)
