"""make bench: what a Ray cluster costs over the pool, on two cores of one host, where Ray is installed.

Both train the same stacks from an empty store, for about a minute each; Ray's own start is not counted, as a
cluster stands before a stage asks it.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.util import find_spec
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
NODES = 2  # of one core each


@contextmanager
def cluster() -> Iterator[str]:
    """A head without cores and its nodes; its address."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(NODES):
        made.add_node(num_cpus=1, **small)
    try:
        yield made.address
    finally:
        made.shutdown()


def on_as_many_cores() -> None:
    """Have this process and all that it starts use as many cores as the nodes have: the pool has no more then."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:NODES])


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
    """Print and record the ratio; where Ray is not installed, say so."""
    if find_spec("ray") is None:
        print("Ray / the pool: skipped, Ray is not installed (pip install -r requirements-ray.txt)")
        return
    on_as_many_cores()
    os.environ.pop("DVC_ROOT", None)
    os.environ["PYTHONPATH"] = str(ROOT)
    alone = seconds(Way())
    with cluster() as address:
        together = seconds(Way("ray", ray=Ray(address=address)))
    print(f"Ray / the pool: {together:.0f} s / {alone:.0f} s = {together / alone:.2f} (at most 1.15)")
    record(
        "Ray / the pool",
        "four stacks of small DUST cells, a minute or more",
        together / alone,
        "at most 1.15",
        torch.device("cpu"),
        EXACT,
    )


if __name__ == "__main__":
    main()
