"""One thread a process: pytest-xdist already keeps the cores busy. No test asks a hub, a proxy, or what a user has
set up for git."""

import os
from collections.abc import Iterator

import pytest

os.environ |= {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")}
os.environ["HF_HUB_OFFLINE"] = "1"  # else the libraries try for a minute
os.environ |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "LANGUAGE": ""}


@pytest.fixture(autouse=True, scope="session")
def _no_threads_before_a_fork() -> Iterator[None]:
    """Cells train in forks of this process, and a fork of one that has started OpenMP's threads hangs."""
    import torch

    own, given = os.getpid(), torch.set_num_threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "set_num_threads", lambda count: given(1 if os.getpid() == own else count))
        yield
