"""The ray engine gives the answers of memory, also when nodes, workers and the driver are lost.

Several Ray nodes on this machine, all of them on loopback. Each test takes less than two minutes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import unseen
from engine_helpers import assert_equal, assert_same_run
from topic_graph import Sample, sample, write_files
from unseen.core.errors import InputError
from unseen.engines import disk
from unseen.engines.ray import Ray

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.cluster
HERE = Path(__file__).parents[1]
LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for the address of this machine in its network


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head and two more nodes, one processor each."""
    from ray.cluster_utils import Cluster

    before = {name: os.environ.get(name) for name in ("RAY_AUTH_MODE", "PYTHONPATH")}
    os.environ["RAY_AUTH_MODE"] = "disabled"  # all addresses are loopback
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (HERE, Path(unseen.__file__).parents[1])))
    head = {"num_cpus": 1, "node_ip_address": LOOPBACK, "object_store_memory": 150 << 20}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=150 << 20)
    ray.init(address=made.address, log_to_driver=False, _node_ip_address=LOOPBACK)
    yield made
    ray.shutdown()
    made.shutdown()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Sample:
    monkeypatch.setattr(disk, "BLOCK", 80)
    return sample(per_class=64, topical=2)


def classified(given: Sample, labels: Any = None) -> tuple[Any, Any]:
    one = unseen.classify(given.graph, given.classes, labels, engine="memory")
    other = unseen.classify(given.graph, given.classes, labels, engine="ray", memory="2GB")
    assert other.record["settings"]["engine"] == "ray"
    return one, other


def test_the_answers_are_those_of_memory(cluster: Any, given: Sample) -> None:
    assert_equal(*classified(given, given.labels(0, 1)))


def test_a_node_is_removed_while_it_works(cluster: Any, given: Sample) -> None:
    extra = cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
    removed: list[float] = []

    def remove() -> None:
        time.sleep(5)
        cluster.remove_node(extra, allow_graceful=False)
        removed.append(time.monotonic())

    thread = Thread(target=remove)
    thread.start()
    one, other = classified(given)
    thread.join()
    assert removed
    assert_equal(one, other)


def test_a_worker_is_killed_while_it_works(cluster: Any, tmp_path: Path) -> None:
    engine = Ray(tmp_path / "work", 60, 2 << 30, block=10)
    marks = tmp_path / "killed"
    marks.mkdir()

    def once(block: Any) -> Any:
        mark = marks / f"{int(block[0, 0])}"
        if int(block[0, 0]) in (10, 40) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * block

    X = np.repeat(np.arange(60, dtype=np.float32)[:, None], 3, axis=1)
    found = engine.map(once, X)
    np.testing.assert_array_equal(engine.array(found), 2 * X)
    assert len(list(marks.iterdir())) == 2


def test_errors_of_tasks_are_what_they_were(cluster: Any, tmp_path: Path) -> None:
    engine = Ray(tmp_path / "work", 20, 2 << 30, block=10)

    def wrong(block: Any) -> Any:
        raise InputError("texts: something is wrong")

    with pytest.raises(InputError, match="something is wrong"):
        engine.map(wrong, np.ones((20, 2), np.float32))
    with pytest.raises(Exception, match="an engine stays with the driver"):
        engine.map(lambda block: block * engine.nodes, np.ones((20, 2), np.float32))


def test_a_driver_is_killed_and_started_again(cluster: Any, tmp_path: Path) -> None:
    given = sample(per_class=64, topical=2)
    paths = write_files(tmp_path / "inputs", given)
    words = [str(paths[name]) for name in ("nodes", "edges", "classes")]

    def job(stage: str, engine: str, out: Path) -> int:
        command = [sys.executable, str(HERE / "kill_job.py"), stage, *words, str(out), engine]
        command += [cluster.address] if engine == "ray" else []
        done = subprocess.run(command, capture_output=True, check=False, timeout=110)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        return done.returncode

    assert job("-", "disk", tmp_path / "disk") == 0
    assert job("fit", "ray", tmp_path / "ray") == -signal.SIGKILL
    assert job("-", "ray", tmp_path / "ray") == 0
    assert_same_run(tmp_path / "disk", tmp_path / "ray")


def test_no_cluster_at_an_address_is_said(tmp_path: Path) -> None:
    command = "from unseen.engines.ray import connect; connect('127.0.0.1:1')"
    environment = os.environ | {"PYTHONPATH": str(Path(unseen.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert b"address: no Ray cluster can be reached at 127.0.0.1:1" in done.stderr
