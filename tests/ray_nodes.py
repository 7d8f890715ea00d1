"""Several Ray nodes on this machine, all of their addresses on loopback."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import unseen

LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for the address of this machine in its network
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",  # all addresses are loopback
    "RAY_worker_niceness": "0",  # else workers wait for whatever else runs on the machine
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
    "PYTHONPATH": os.pathsep.join(
        map(str, (Path(__file__).parent, Path(unseen.__file__).parents[1]))
    ),
}
STORE = 150 << 20  # bytes
T = TypeVar("T")


@contextmanager
def several_nodes(count: int = 3) -> Iterator[Any]:
    """Give a cluster of so many nodes, one processor each; this process is its driver."""
    import ray
    from ray.cluster_utils import Cluster

    before = {name: os.environ.get(name) for name in SETTINGS}
    os.environ.update(SETTINGS)
    each = {"num_cpus": 1, "node_ip_address": LOOPBACK, "object_store_memory": STORE}
    head = {**each, "include_dashboard": False}
    made = patient(lambda: Cluster(initialize_head=True, head_node_args=head))
    try:
        for _ in range(count - 1):
            patient(lambda: made.add_node(**each))
        ray.init(address=made.address, log_to_driver=False, _node_ip_address=LOOPBACK)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def patient(start: Callable[[], T]) -> T:
    """Start a node; Ray gives up after 30 seconds, which a busy machine may need several times."""
    for _ in range(3):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()


class Counting:
    """Stands for an encoder: costly to build, and it tells where it was built."""

    actors = "cpu"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        (self.folder / f"built-{os.getpid()}").touch()
        time.sleep(0.2)
        return np.array([[len(text), text.count("a")] for text in texts], dtype=np.float32)
