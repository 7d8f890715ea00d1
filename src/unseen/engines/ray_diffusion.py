"""Composed hops of nodes on a cluster: never stored, only their lengths (see `disk.py`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.engines.base import labelled_nodes, picked, sampled_nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Rows
    from unseen.engines.ray import Ray

SLICE = 128  # columns that are propagated together while lengths are measured


class RayDiffusion:
    """z of every node of a task, by what it does to narrow blocks."""

    def __init__(self, engine: Ray, task: Task, hops: int, laziness: float) -> None:
        self.engine, self.X, self.operator = engine, task.X, task.operator
        self.hops, self.laziness = hops, laziness
        key = ("lengths", hops, laziness)
        kept = task.memo.get(key)
        if kept is None or kept[0] is not task.X or kept[1] is not task.operator:
            name = getattr(task.X, "name", "")
            name = f"lengths-{name}-{hops}-{laziness}" if name else ""
            make = partial(self._measured, labelled_nodes(task.labels))
            known = engine.once(name, make) if name else make()
            kept = task.memo[key] = (task.X, task.operator, known)
        self._known = kept[2]

    def cosines(self, W: NDArray[np.float32]) -> Rows:
        """Return z_i w_c. [n, C]"""
        lengths = self._known["lengths"]
        inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        narrow = self.engine.map(lambda X: np.asarray(X @ W.T, dtype=np.float32), self.X)
        return self.engine.map(lambda Y, by: Y * by[:, None], self._diffused(narrow), inverse)

    def sample(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return some nodes and their z; all where there are few. [m], [m, d]"""
        return self.known(sampled_nodes(self.engine.nodes))

    def known(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return those of some nodes whose z was kept, and it. [m], [m, d]"""
        found, rows = picked(nodes, self._known["nodes"], self._known["sample"])
        return found, unit(rows)

    def _diffused(self, rows: Rows) -> Rows:
        operator: Any = self.operator
        for _ in range(self.hops if operator is not None else 0):
            rows = operator.lazy(rows, self.laziness)
        return rows

    def _measured(self, labelled: NDArray[np.int64]) -> dict[str, Any]:
        engine, width, samples = self.engine, self.X.shape[1], []
        nodes = np.union1d(sampled_nodes(engine.nodes), labelled)
        squares = np.zeros(engine.nodes, dtype=np.float64)
        for at in range(0, width, SLICE):
            Y = self._diffused(engine.map(lambda X, at=at: X[:, at : at + SLICE], self.X))
            squares += engine.map(lambda Y: np.einsum("nc,nc->n", Y, Y), Y)
            samples.append(engine.take(Y, nodes))
        lengths = np.sqrt(squares).astype(np.float32)
        return {"lengths": lengths, "nodes": nodes, "sample": np.concatenate(samples, axis=1)}
