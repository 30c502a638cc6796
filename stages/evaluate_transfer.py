"""python -m stages.evaluate_transfer: video models on test clips of the data sets that are not their own."""

from descent import config, errors, paths
from descent.analysis import results
from descent.runner import executor
from descent.tasks.video import transfer


def main() -> None:
    """Write data/scores/transfer.parquet; without rows where fewer than two data sets are in use."""
    params = config.load()
    executor.use(params)
    results.write(transfer.of_all(params), paths.TRANSFER_SCORES)


if __name__ == "__main__":
    errors.run(main)
