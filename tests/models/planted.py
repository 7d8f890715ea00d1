"""A planted partition: nodes whose texts and ties tell their class as well as one likes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unseen.propagate.hops import Hops
from unseen.propagate.operators import Operator
from unseen.vectors import unit


@dataclass(frozen=True, eq=False)
class Planted:
    truth: NDArray[np.int64]  # [n]
    hops: Hops  # hop 0 only: what each node's own text says
    csds: NDArray[np.float32]  # [C, d]
    ties: NDArray[np.float32]  # symmetric [n, n]

    @property
    def operator(self) -> Operator:
        return Operator(self.ties)

    @property
    def rows(self) -> NDArray[np.float32]:
        return unit(self.hops.own)

    def accuracy(self, answer: NDArray[np.int64]) -> float:
        return float((answer == self.truth).mean())


def plant(
    level: float,
    noise: float,
    nodes: int = 500,
    classes: int = 5,
    width: int = 16,
    degree: int = 6,
    seed: int = 0,
) -> Planted:
    """Return a graph in which a tie joins one class with probability `level`, else anybody."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(nodes) % classes)
    csds = unit(rng.normal(size=(classes, width)).astype(np.float32))
    X = csds[truth] + noise * rng.normal(size=(nodes, width)) / np.sqrt(width)
    source = rng.integers(nodes, size=nodes * degree // 2)
    target = rng.integers(nodes, size=len(source))
    for t in np.flatnonzero(rng.random(len(source)) < level):
        target[t] = rng.choice(np.flatnonzero(truth == truth[source[t]]))
    ties = np.zeros((nodes, nodes), dtype=np.float32)
    ties[source, target] = ties[target, source] = 1
    np.fill_diagonal(ties, 0)
    hops = Hops((X.astype(np.float32),), np.ones(1, dtype=np.float32))
    return Planted(truth, hops, csds, ties)
