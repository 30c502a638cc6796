"""Ray clusters on this host."""

import json
import re
from typing import Any

import pytest

from descent.errors import UserError
from descent.runner import cluster
from tests.fakes.core import ROOT


def library() -> None:
    """Imported as a driver does, with its limits, which Ray reads once; skips where it is not installed."""
    try:
        cluster._library()
    except UserError as error:
        pytest.skip(str(error))


def clustered(hosts: int, **system: int) -> Any:
    """A cluster of a head without cores and nodes of one core each, as `ray start --system-config` makes it."""
    library()
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": system, **small})
    made.small = small
    for _ in range(hosts):
        made.add_node(num_cpus=1, **small)
    return made


def told_to_the_head() -> dict[str, int]:
    """What docs/gpus.md has the head of several hosts started with."""
    return json.loads(re.search(r"--system-config='(\{.*?\})'", (ROOT / "docs/gpus.md").read_text())[1])
