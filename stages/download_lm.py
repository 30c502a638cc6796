"""Bring the raw instructions to data/raw/alpaca."""

from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.lm import raw as instruction_sources


def main() -> None:
    """Generate, read or download them, as the profile in use says."""
    values = params.load()
    instruction_sources.fetch(values.budget.lm.data, values.local_data, Path("data/raw/alpaca"))


if __name__ == "__main__":
    errors.run(main)
