"""python -m stages.code: data/code/<module>, a digest of a stage, model or figure with all that it imports.

The other stages depend on these and not on source files. A list of thirty files in each of a hundred stages made
dvc.lock so long that writing it, which DVC does after every stage, took longer than most stages.
"""

from pathlib import Path

from descent import errors
from descent.runner.fingerprint import entries, file_digest


def main() -> None:
    """Write the digests of the code as it stands."""
    folder = Path("data/code")
    folder.mkdir(parents=True, exist_ok=True)
    for module in entries():
        (folder / module).write_text(file_digest(module) + "\n")


if __name__ == "__main__":
    errors.run(main)
