"""A team that shares the labelled nodes out takes the steps that one worker takes."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

from unseen.core.arrays import unit
from unseen.core.task import Task
from unseen.engines.memory import Memory
from unseen.engines.ray_train import Crew
from unseen.models.dgpn import DGPN

pytest.importorskip("torch")


class Threads(Memory):
    """An engine whose teams are threads of this process, each with maps of its own."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.found: dict[int, Any] = {}

    def train(self, job: Any) -> Any:
        wait = Barrier(self.size)
        given: list[Any] = [None] * self.size

        class Member(Crew):
            def total(self, tensors: Iterable[Any]) -> None:
                for tensor in tensors:
                    given[self.rank] = tensor.clone()
                    wait.wait()
                    tensor.copy_(sum(given))
                    wait.wait()

        def work(rank: int) -> None:
            self.found[rank] = deepcopy(job)(Member(rank, self.size))

        threads = [Thread(target=work, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.found[0]


@pytest.mark.parametrize("start", ["identity", "xavier"])
@pytest.mark.parametrize("size", [2, 5])
def test_losses_and_maps_are_those_of_one_worker(start: Any, size: int) -> None:
    rng = np.random.default_rng(0)
    X, S = (unit(rng.normal(size=(n, 12)).astype(np.float32)) for n in (60, 4))
    labels = np.where(np.arange(60) % 4 == 0, -1, np.arange(60) % 3)
    engine, settings = Threads(size), {"start": start, "epochs": 25, "decay": 1e-3}
    alone = DGPN(**settings).fit(Task(X, S, labels))
    team = DGPN(**settings).fit(Task(X, S, labels, engine=engine))
    np.testing.assert_allclose(team.losses_, alone.losses_, rtol=0, atol=1e-4)
    assert alone.losses_[-1] < alone.losses_[0] - 0.01
    for _, maps in engine.found.values():
        for name, matrix in alone.maps_.items():
            np.testing.assert_allclose(maps[name], matrix, atol=1e-3)
