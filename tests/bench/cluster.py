"""python -m tests.bench.cluster: what a Ray cluster costs over the pool, on two cores of one host.

It needs requirements-ray.txt, and is no part of `make bench`. Both train the same stacks from an empty store, for
about a minute each; Ray's own start is not counted, as a cluster stands before a stage asks it.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import torch

from descent.runner import executor, items
from descent.runner.executor import Way
from descent.runner.schema import Ray
from tests.bench.table import EXACT, record
from tests.fakes.core import DATASET, PARAMS, item_of, make_project, small_params

ROOT = PARAMS.parents[1]
WORDS = ("video", DATASET, "dust")
EPOCHS = 3600  # about a minute of two cores


@contextmanager
def cluster() -> Iterator[str]:
    """A head without cores and two nodes of one each; its address."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(2):
        made.add_node(num_cpus=1, **small)
    yield made.address
    made.shutdown()


def seconds(way: Way) -> float:
    """Of training the same cells in a project of their own."""
    executor._way = way
    changes = {"profiles.demo.video": {"epochs": EPOCHS, "layers": [2, 3], "eps": []}}
    with tempfile.TemporaryDirectory() as folder, chdir(make_project(Path(folder))):
        item = item_of(small_params(changes), *WORDS)
        began = time.perf_counter()
        items.train(item.name, [item])
        return time.perf_counter() - began


def main() -> None:
    """Print and record the ratio."""
    os.environ.pop("DVC_ROOT", None)
    os.environ["PYTHONPATH"] = str(ROOT)
    alone = seconds(Way())
    with cluster() as address:
        together = seconds(Way("ray", ray=Ray(address=address)))
    print(f"Ray / the pool: {together:.0f} s / {alone:.0f} s = {together / alone:.2f} (at most 1.15)")
    record(
        "Ray / the pool",
        f"four stacks of small DUST cells, {alone:.0f} s",
        together / alone,
        "at most 1.15",
        torch.device("cpu"),
        EXACT,
    )


if __name__ == "__main__":
    main()
