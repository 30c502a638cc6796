"""python -m stages.prune_store: forget what no branch or experiment asks for; no stage of the DAG."""

from descent import errors
from descent.runner import store
from descent.tasks.common import pruning


def main() -> None:
    """Tell how many are kept, and how many are gone; pruning.py says how it knows."""
    params = pruning.every_params()
    kept, gone = pruning.prune(store.root(), params)
    print(f"{store.root()}: {kept} kept, {gone} gone; {len(params)} params.yaml of branches and experiments read")


if __name__ == "__main__":
    errors.run(main)
