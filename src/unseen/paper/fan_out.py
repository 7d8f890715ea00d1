"""Trials on a Ray cluster, for `work`: an executor whose workers are Ray's.

Ray runs a trial again whose worker or machine was lost. Outcomes come back to the driver, which
writes the ledger as it does for processes of its own. Modules are found as the driver finds them,
so the project has to lie at the same place on every machine, or be installed there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from unseen.engines.ray_cluster import connect, translated

if TYPE_CHECKING:
    from unseen.paper.trial import Outcome

RETRIES = 3  # of a trial whose worker or machine was lost


class Cluster:
    """As much of `concurrent.futures.Executor` as `work` needs.

    Args:
        address: of the cluster.

    Attributes:
        jobs: trials that run at the same time: one for each processor.
    """

    def __init__(self, address: str) -> None:
        self.ray = connect(address)
        self.jobs = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        own = [str(Path(place).resolve()) for place in sys.path if Path(place or ".").is_dir()]
        found = {"PYTHONPATH": os.pathsep.join(own), "OMP_NUM_THREADS": "1"}
        options = {"num_cpus": 1, "max_retries": RETRIES, "runtime_env": {"env_vars": found}}
        self._task = self.ray.remote(**options)(_run)

    def submit(self, run: Callable[[Any], Outcome], trial: Any) -> Future[Outcome]:
        """Begin a trial."""
        begun: Future[Outcome] = self._task.remote(run, trial).future()
        return begun

    def result(self, done: Future[Outcome]) -> Outcome:
        """Return the outcome of a trial that has ended, or raise the error that it had."""
        with translated(self.ray):
            return done.result()

    def shutdown(self, **_: Any) -> None:
        """Leave what is under way to Ray, which ends it with this process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


def _run(run: Callable[[Any], Outcome], trial: Any) -> Outcome:
    return run(trial)
