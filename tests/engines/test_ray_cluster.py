"""What is wrong with a cluster is one line that says where and what to do. No cluster is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.core import errors
from unseen.core.errors import InputError, MissingExtraError
from unseen.engines import ray_cluster
from unseen.engines.plan import plan

ray = pytest.importorskip("ray")


def test_no_ray_is_said_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(errors, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install \"unseen\[ray\]\""):
        ray_cluster.connect(None)


def test_no_cluster_at_an_address_is_said() -> None:
    command = "from unseen.engines.ray_cluster import connect; connect('127.0.0.1:1')"
    environment = os.environ | {"PYTHONPATH": str(Path(unseen.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert b"address: no Ray cluster can be reached at 127.0.0.1:1" in done.stderr


def test_other_versions_of_ray_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**given: Any) -> None:
        raise RuntimeError(
            "Version mismatch: The cluster was started with:\n    Ray: 2.9.3\n    Python: 3.9.1\n"
            "This process on Node was started with:\n    Ray: 2.60.0"
        )

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(
        InputError, match=r"this machine runs other versions .* Ray: 2.9.3 .* install the same"
    ):
        ray_cluster.connect(None)


def test_errors_of_workers_name_the_setting() -> None:
    made = ray_cluster.failure(ray, ray.exceptions.OutOfMemoryError("killed"))
    assert isinstance(made, InputError)
    assert "memory: a worker of the cluster had too little" in str(made)
    assert "ray start --num-cpus" in str(made)
    full = ray_cluster.failure(ray, ray.exceptions.OutOfDiskError("full"))
    assert "--object-spilling-directory" in str(full)
    lost = ray_cluster.failure(ray, ray.exceptions.WorkerCrashedError())
    assert "repeat the command" in str(lost)
    own = InputError("texts: wrong")
    assert ray_cluster.failure(ray, own) is own


def test_the_plan_of_a_cluster_tells_of_workers_and_network() -> None:
    found = plan(10_000_000, 100_000_000, 40, "ray", "8GB")
    shown = dict(found.rows())
    assert "to every machine beside the first" in shown["over the network"]
    assert found.network == 4 * 10_000_000 * (70 * 40 + 3 * 384)
    assert found.worker < 2 << 30
    assert "room on disk while it runs" in shown
