"""What `cost.py` measures: `decompose` and an epoch of DGPN, on random graphs of given sizes.

The clock counts what the processor works for this process, so other programs disturb little. The
first of the repetitions warms up; the median of the others is returned. Keep everything to one
thread (`alone`), or the clock adds up the waiting of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.dgpn.model import DGPN
from unseen.models.training import one_thread
from unseen.propagate.hops import decompose

LATENT, SEMANTIC, CLASSES = 128, 16, 8  # d_h, d_s, C
LAZINESS = 0.7
REPEATS, MOST = 5, 1000  # at least, and at most where an end has to be given
LEAST = 0.2  # seconds that the repetitions take together, where they can be chosen


@dataclass(frozen=True)
class Sizes:
    """A random graph with attributes, and how far it is propagated; every node is labelled."""

    nodes: int  # n
    degree: int  # of every node; even
    width: int  # d
    hops: int  # K
    filled: float = 1.0  # share of the attributes that are not zero; 1: dense

    @property
    def edges(self) -> int:
        """|E|, each counted once."""
        return self.nodes * self.degree // 2

    @property
    def words(self) -> int:
        """|X|, the attributes that are not zero."""
        return self.nodes * round(self.width * self.filled)


def decomposition(sizes: Sizes) -> float:
    """Return the seconds of `decompose` on dense attributes."""
    X, operator = attributes(sizes), Operator(random_regular(sizes.nodes, sizes.degree))
    ticks = [process_time()]
    while not _enough(ticks):
        decompose(X, operator, sizes.hops, LAZINESS)
        ticks.append(process_time())
    return _between(ticks)


def epoch(sizes: Sizes) -> float:
    """Return the seconds of an epoch of DGPN, official variant, on dense or sparse attributes."""
    model = Clocked.variant("official", latent=LATENT, epochs=MOST, hops=sizes.hops)
    return _between(model.fit(task_of(sizes)).ticks_)


@contextmanager
def alone() -> Iterator[None]:
    """Keep all libraries to one thread."""
    with threadpool_limits(1), one_thread():
        yield


def random_regular(nodes: int, degree: int, seed: int = 0) -> Any:
    """Return a graph in which all nodes have the same even degree. [n, n]

    A ring with random chords, its nodes shuffled: neighbours lie far apart in memory.
    """
    rng = np.random.default_rng(seed)
    chords = rng.choice(np.arange(1, (nodes + 1) // 2), degree // 2, replace=False)
    place, seat = rng.permutation(nodes), np.empty(nodes, np.int64)
    seat[place] = np.arange(nodes)
    ends = np.sort(place[(seat[:, None] + np.append(chords, -chords)) % nodes])  # [n, degree]
    starts = np.arange(0, ends.size + 1, degree)
    return sp.csr_array((np.ones(ends.size, np.float32), ends.ravel(), starts), (nodes, nodes))


def attributes(sizes: Sizes, seed: int = 1) -> Any:
    """Return X, sparse where it is not filled; then all rows hold as many ones. [n, d]"""
    rng = np.random.default_rng(seed)
    n, d = sizes.nodes, sizes.width
    if sizes.filled == 1:
        return rng.random((n, d), dtype=np.float32)
    pattern = rng.choice(d, sizes.words // n, replace=False)
    columns = np.sort((pattern + rng.integers(d, size=(n, 1))) % d)  # [n, ones of a row]
    starts = np.arange(0, sizes.words + 1, len(pattern))
    return sp.csr_array((np.ones(sizes.words, np.float32), columns.ravel(), starts), (n, d))


def task_of(sizes: Sizes) -> Task:
    """Return random nodes, every one labelled, and random CSDs."""
    csds = np.random.default_rng(3).normal(size=(CLASSES, SEMANTIC))
    operator = Operator(random_regular(sizes.nodes, sizes.degree))
    return Task(attributes(sizes), csds, np.arange(sizes.nodes) % CLASSES, operator)


class Clocked(DGPN):
    """DGPN that notes when its epochs end, and ends when it has enough of them."""

    def _train(self, *given: Any) -> Iterator[float]:
        self.ticks_ = [
            process_time()
        ]  # the first epoch includes what is done once, and is left out
        for loss in super()._train(*given):
            self.ticks_.append(process_time())
            yield loss
            if _enough(self.ticks_):
                break


def _enough(ticks: list[float]) -> bool:
    return len(ticks) > 1 + REPEATS and ticks[-1] - ticks[1] > LEAST


def _between(ticks: list[float]) -> float:
    """Return the median time from tick to tick, without the first.

    >>> _between([0.0, 9.0, 10.0, 11.0, 15.0])
    1.0
    """
    return median(after - before for before, after in pairwise(ticks[1:]))
