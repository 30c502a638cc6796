"""Whether some host of a Ray cluster has what a stack asks for: what none has Ray would wait for without end."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from descent.errors import UserError

OFTEN = 20.0  # seconds between two looks at the hosts
PATIENCE = 300.0  # seconds that a host may be away, as one that starts anew, before who needs it is told
Need = Mapping[str, float | int]  # of a stack, by the names of Ray's options


def resources(ray: Any) -> list[Mapping[str, float]]:
    """What each host that is there has, by Ray's names."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def fitting(hosts: Sequence[Mapping[str, float]], own_threads: int, gpus: float) -> dict[str, float | int]:
    """What a stack asks of a host, so that some host has it.

    Args:
        hosts: what each has, by Ray's names.
        own_threads: of a stack on a CPU; as many as the largest host has are enough.
        gpus: of a stack on GPUs the share of one, else 0.

    Raises:
        UserError: no host has a GPU, or no host gives Ray a core.
    """
    name = "GPU" if gpus else "CPU"
    most = max((host.get(name, 0.0) for host in hosts), default=0.0)
    if not most:
        raise UserError(
            f"no host of the Ray cluster has a {name} to give: start one with some (`ray start --num-gpus`, "
            "`--num-cpus`), or set device in params.yaml to what there is"
        )
    return {"num_cpus": 0, "num_gpus": gpus} if gpus else {"num_cpus": min(own_threads, most), "num_gpus": 0.0}


class Room:
    """A cluster whose hosts come and go; made when every stack fitted on one."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._fitted = self._asked = time.monotonic()

    def ask(self, needs: Iterable[Need]) -> None:
        """Look, if that is due, whether each of these still fits on a host.

        Raises:
            UserError: for PATIENCE seconds one of them has not.
        """
        now = time.monotonic()
        if now - self._asked < OFTEN:
            return
        self._asked = now
        hosts = resources(self._ray)
        if all(any(_fits(need, host) for host in hosts) for need in needs):
            self._fitted = now
        elif now - self._fitted > PATIENCE:
            raise UserError(
                "no host of the Ray cluster is left that has as many CPUs or GPUs as a stack asks for: what was "
                "finished is kept; start such a host again (`ray start`), and run the same command again, or run "
                "it as it is for what there is"
            )


def _fits(need: Need, host: Mapping[str, float]) -> bool:
    return host.get("CPU", 0.0) >= need["num_cpus"] and host.get("GPU", 0.0) >= need["num_gpus"]
