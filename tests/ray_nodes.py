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
PATIENCE = 300.0  # seconds for a node to start on a busy machine
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",  # all addresses are loopback
    "RAY_worker_niceness": "0",  # else workers wait for whatever else runs on the machine
    "RAY_enable_worker_prestart": "0",  # no process that nobody needs
    "RAY_prestart_worker_first_driver": "0",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_gcs_server_port_wait_time_s": "300",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "30",  # for room only; then it asks for less
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
    "PYTHONPATH": os.pathsep.join(
        map(str, (Path(__file__).parent, Path(unseen.__file__).parents[1]))
    ),
}
STORE = 150 << 20  # bytes
T = TypeVar("T")


@contextmanager
def several_nodes(store: int = STORE) -> Iterator[Any]:
    """Give a cluster of two nodes, one processor each; this process is its driver."""
    import pytest
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        head = {**_node(store), "include_dashboard": False}
        made = _patient(lambda: Cluster(initialize_head=True, head_node_args=head))
        try:
            add_node(made, store)
            ray.init(address=made.address, log_to_driver=False, _node_ip_address=LOOPBACK)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


def add_node(cluster: Any, store: int = STORE) -> Any:
    """Add one more node, and wait until the others know of it."""
    node = _patient(lambda: cluster.add_node(wait=False, **_node(store)))
    cluster.wait_for_nodes(timeout=PATIENCE)
    return node


def _node(store: int) -> dict[str, Any]:
    return {"num_cpus": 1, "node_ip_address": LOOPBACK, "object_store_memory": store}


def _patient(start: Callable[[], T]) -> T:
    """Start a node; Ray gives up after 30 seconds, which a busy machine may need several times."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error) or time.monotonic() > end:
                raise


class Counting:
    """Stands for an encoder: costly to build, and it tells where it was built."""

    actors = "cpu"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        (self.folder / f"built-{os.getpid()}").touch()
        time.sleep(0.2)
        return np.array([[len(text), text.count("a")] for text in texts], dtype=np.float32)
