"""python -m stages.prune_store: forget what no branch or experiment asks for; no stage of the DAG."""

from descent import errors
from descent.errors import UserError
from descent.published import set_aside
from descent.runner import store
from descent.tasks.common import pruning


def main() -> None:
    """Tell how many are kept, and how many are gone; pruning.py says how it knows.

    Raises:
        UserError: a run is training, whose cells need not be those of params.yaml as it is now.
    """
    if store.in_use():
        raise UserError("a run is training, and its cells would go too: prune the store when it has ended")
    set_aside.restore()
    params = pruning.every_params()
    kept, gone = pruning.prune(store.root(), params)
    print(f"{store.root()}: {kept} kept, {gone} gone; {len(params)} params.yaml of branches and experiments read")


if __name__ == "__main__":
    errors.run(main)
