"""A planted partition: nodes whose texts and edges tell their class as well as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.core.operator import Operator
from unseen.core.task import Task


@dataclass(frozen=True, eq=False)
class Planted:
    truth: NDArray[np.int64]  # [n]
    X: NDArray[np.float32]  # what each node's own text says [n, d]
    S: NDArray[np.float32]  # [C, d]
    A: NDArray[np.float32]  # symmetric [n, n]

    @property
    def operator(self) -> Operator:
        return Operator(self.A)

    @property
    def rows(self) -> NDArray[np.float32]:
        return unit(self.X)

    def task(self, labels: Any = None, allowed: Any = None, graph: bool = True) -> Task:
        return Task(self.X, self.S, labels, self.operator if graph else None, allowed)

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
    """Return a graph in which an edge joins one class with probability `level`, else any two."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(nodes) % classes)
    S = unit(rng.normal(size=(classes, width)).astype(np.float32))
    X = S[truth] + noise * rng.normal(size=(nodes, width)) / np.sqrt(width)
    source = rng.integers(nodes, size=nodes * degree // 2)
    target = rng.integers(nodes, size=len(source))
    for t in np.flatnonzero(rng.random(len(source)) < level):
        target[t] = rng.choice(np.flatnonzero(truth == truth[source[t]]))
    A = np.zeros((nodes, nodes), dtype=np.float32)
    A[source, target] = A[target, source] = 1
    np.fill_diagonal(A, 0)
    return Planted(truth, X.astype(np.float32), S, A)
