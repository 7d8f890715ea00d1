"""The ray engine gives the answers of memory, also when nodes, workers and the driver are lost.

Several Ray nodes on this machine, all of them on loopback. Each test takes less than two minutes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from engine_helpers import assert_equal, assert_same_run
from ray_nodes import add_node, several_nodes
from topic_graph import Sample, sample, write_files
from unseen.core.errors import InputError
from unseen.engines import disk
from unseen.engines.ray import Ray

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.cluster
HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with several_nodes() as made:
        yield made


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "BLOCK", 100)


def classified(given: Sample, labels: Any = None) -> tuple[Any, Any]:
    one = unseen.classify(given.graph, given.classes, labels, engine="memory")
    other = unseen.classify(given.graph, given.classes, labels, engine="ray", memory="2GB")
    assert other.record["settings"]["engine"] == "ray"
    return one, other


def test_the_answers_are_those_of_memory(cluster: Any) -> None:
    given = sample(per_class=64, topical=2)
    assert_equal(*classified(given, given.labels(0, 1)))


def test_a_node_is_removed_while_it_works(cluster: Any) -> None:
    """With prepared blocks on it that hops need next."""
    given = sample(per_class=40, topical=2)
    extra = add_node(cluster)
    removed: list[str] = []

    def remove(what: str, done: int, total: int) -> None:
        if what.startswith("prepared") and not removed:
            removed.append(what)
            cluster.remove_node(extra, allow_graceful=False)

    one = unseen.classify(given.graph, given.classes, engine="memory")
    other = unseen.classify(given.graph, given.classes, engine="ray", memory="2GB", progress=remove)
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
    given = sample(per_class=40, topical=2)
    paths = write_files(tmp_path / "inputs", given)
    words = [str(paths[name]) for name in ("nodes", "edges", "classes")]

    def job(stage: str, engine: str, out: Path) -> int:
        command = [sys.executable, str(HERE / "kill_job.py"), stage, *words, str(out), engine]
        command += [cluster.address] if engine == "ray" else []
        done = subprocess.run(command, capture_output=True, check=False, timeout=900)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        return done.returncode

    assert job("-", "disk", tmp_path / "disk") == 0
    assert job("fit", "ray", tmp_path / "ray") == -signal.SIGKILL
    assert job("-", "ray", tmp_path / "ray") == 0
    assert_same_run(tmp_path / "disk", tmp_path / "ray")
