"""Composed hops of nodes on a cluster: never stored, only their lengths (see `disk.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.engines.base import sampled_nodes

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
            known = engine.once(name, self._measured) if name else self._measured()
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
        return sampled_nodes(self.engine.nodes), unit(self._known["sample"])

    def _diffused(self, rows: Rows) -> Rows:
        operator: Any = self.operator
        for _ in range(self.hops if operator is not None else 0):
            rows = operator.lazy(rows, self.laziness)
        return rows

    def _measured(self) -> dict[str, Any]:
        engine, width, samples = self.engine, self.X.shape[1], []
        squares = np.zeros(engine.nodes, dtype=np.float64)
        for at in range(0, width, SLICE):
            Y = self._diffused(engine.map(lambda X, at=at: X[:, at : at + SLICE], self.X))
            squares += engine.map(lambda Y: np.einsum("nc,nc->n", Y, Y), Y)
            samples.append(engine.take(Y, sampled_nodes(engine.nodes)))
        lengths = np.sqrt(squares).astype(np.float32)
        return {"lengths": lengths, "sample": np.concatenate(samples, axis=1)}
